const policyOf = (directives: readonly string[]): string =>
  [
    "default-src 'none'",
    "script-src 'self'",
    "img-src 'self' data:",
    "connect-src 'self'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    ...directives,
  ].join('; ')

/** What the console's pages may load: nothing from elsewhere, and no inline style. */
export const consolePolicy = policyOf(["style-src 'self'", "base-uri 'none'"])

/** The same for the pages of libraries (bull-board, Swagger UI), which have inline styles. */
export const libraryPagePolicy = policyOf(["style-src 'self' 'unsafe-inline'", "font-src 'self'", "base-uri 'self'"])
