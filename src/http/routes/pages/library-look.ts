/** The colours of the console (`console/tokens.css`), for the pages of libraries. */
const colours = {
  light: {
    back: '#f5f6f8',
    card: '#ffffff',
    text: '#1a2028',
    faint: '#59636f',
    line: '#dde1e7',
    link: '#1f4fb8',
    primary: '#2457c5',
  },
  dark: {
    back: '#12151a',
    card: '#1b1f26',
    text: '#e7ebf0',
    faint: '#a2acb8',
    line: '#313843',
    link: '#8fb6ff',
    primary: '#2f66d6',
  },
} as const

const font = 'system-ui, -apple-system, "Segoe UI", Roboto, sans-serif'

const buildTokens = ({ back, card, text, faint, line, link, primary }: (typeof colours)[keyof typeof colours]) => ({
  background: back,
  foreground: text,
  card,
  'muted-foreground': faint,
  border: line,
  input: line,
  primary,
  'primary-foreground': '#ffffff',
  ring: link,
  sidebar: card,
  'sidebar-foreground': text,
  'sidebar-primary': link,
  'sidebar-border': line,
  'font-sans': font,
  radius: '6px',
})

/** The logo, as `console/logo.svg`. */
export const logo = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><title>Tallyman</title><rect width="32" height="32" rx="7" fill="#2457c5"/>
<path d="M8.5 8v16M13.5 8v16M18.5 8v16M23.5 8v16M5.5 20.5 26.5 11.5" fill="none" stroke="#fff" stroke-width="2.4" stroke-linecap="round"/></svg>`

/** The look of bull-board: the colours of the console, and ways back to it. */
export const boardLook = {
  theme: { light: buildTokens(colours.light), dark: buildTokens(colours.dark) },
  boardLogo: { path: `data:image/svg+xml,${encodeURIComponent(logo)}`, width: 28, height: 28 },
  hideDocsLink: true,
  miscLinks: [
    { text: 'Back to the console', url: '/' },
    { text: 'API docs', url: '/docs' },
  ],
}

const { light, dark } = colours

/** A link to the console, over bull-board's page, in light and dark: its own links are in a menu. */
export const wayBack = `<a href="/" style="position:fixed;left:16px;bottom:48px;z-index:9999;font:600 14px ${font.replaceAll('"', "'")};color:#fff;background:${light.primary};padding:4px 8px;border-radius:6px">Back to the console</a>`

/** The style of Swagger UI: its bar is that of the console. */
export const documentationStyle = `
.swagger-ui, .swagger-ui .info .title, .swagger-ui .opblock-tag { font-family: ${font}; color: ${light.text}; }
body { background: ${light.back}; }
.swagger-ui .topbar { background: ${light.card}; border-bottom: 1px solid ${light.line}; padding: 8px 16px; }
.swagger-ui .topbar .wrapper { max-width: none; padding: 0; }
.swagger-ui .topbar .link img { height: 28px; width: auto; }
.swagger-ui .topbar .link::after { content: "Back to the console"; margin-left: 8px; font: 600 15px ${font}; color: ${light.link}; }
.swagger-ui .topbar .download-url-wrapper { display: none; }
.swagger-ui .info { margin: 24px 0; }
.swagger-ui a, .swagger-ui .info a { color: ${light.link}; }
.dark-mode .swagger-ui .topbar .link::after { color: ${dark.link}; }
`
