const buildPolicy = (directives: readonly string[]): string =>
  [
    "default-src 'none'",
    "script-src 'self'",
    "img-src 'self' data:",
    "connect-src 'self'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    ...directives,
  ].join('; ')

/** Content security policy of the console's pages: nothing from other hosts, no inline style. */
export const consolePolicy = buildPolicy(["style-src 'self'", "font-src 'self'", "base-uri 'none'"])

/** Content security policy of the pages of libraries (bull-board, Swagger UI), which have inline styles. */
export const libraryPagePolicy = buildPolicy(["style-src 'self' 'unsafe-inline'", "font-src 'self'", "base-uri 'self'"])
