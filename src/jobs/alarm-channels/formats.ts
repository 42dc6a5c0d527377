import type { AlarmMessage } from '../../domain/alarms/alarm-message.ts'

// A message in the format of each kind of channel. Ids of sellers and subjects are text of others: it is sent where no mark-up is read, or escaped.

/** Maximum length of a text block of Slack. */
const maxSlackText = 3_000
/** Maximum length of a header of Slack. */
const maxSlackHeader = 150

const cut = (text: string, max: number): string => (text.length > max ? `${text.slice(0, max - 1)}…` : text)

/** Slack reads `<…>` as a link or a mention, and `&` as the beginning of an entity. */
const escapeSlack = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')

const formatLines = (lines: readonly string[]): string => lines.map((line) => `- ${line}`).join('\n')

/** Lines in blocks that Slack accepts: a section has a limited length. */
const splitLines = (lines: readonly string[]): readonly string[] => {
  const blocks = ['']
  for (const line of lines.map((one) => cut(`• ${one}`, maxSlackText))) {
    const last = blocks.at(-1) ?? ''
    if (last === '') blocks[blocks.length - 1] = line
    else if (last.length + line.length < maxSlackText) blocks[blocks.length - 1] = `${last}\n${line}`
    else blocks.push(line)
  }
  return blocks
}

/** The body of a request to an incoming webhook of Slack. `text` is shown in notifications. */
export const buildSlackBody = ({ title, sections, link }: AlarmMessage): string => {
  const plain = (text: string) => ({ type: 'plain_text', text, emoji: false })
  const blocks = [
    { type: 'header', text: plain(cut(title, maxSlackHeader)) },
    ...sections.flatMap(({ heading, lines }) => [
      { type: 'section', text: { type: 'mrkdwn', text: `*${heading}*` } },
      ...splitLines(lines).map((text) => ({ type: 'section', text: plain(text) })),
    ]),
    ...(link === null ? [] : [{ type: 'section', text: { type: 'mrkdwn', text: `<${link}|Open the console>` } }]),
  ]
  return JSON.stringify({ text: escapeSlack(title), blocks })
}

/** The body of a request to a workflow of Teams that posts an Adaptive Card. A `TextRun` has no mark-up. */
export const buildTeamsBody = ({ title, sections, link }: AlarmMessage): string => {
  const run = (text: string, style: object = {}) => ({ type: 'RichTextBlock', inlines: [{ type: 'TextRun', text, ...style }] })
  const card = {
    $schema: 'http://adaptivecards.io/schemas/adaptive-card.json',
    type: 'AdaptiveCard',
    version: '1.4',
    msteams: { width: 'Full' },
    fallbackText: title,
    body: [
      run(title, { size: 'Large', weight: 'Bolder' }),
      ...sections.flatMap(({ heading, lines }) => [run(heading, { weight: 'Bolder' }), ...lines.map((line) => run(`• ${line}`))]),
    ],
    ...(link === null ? {} : { actions: [{ type: 'Action.OpenUrl', title: 'Open the console', url: link }] }),
  }
  return JSON.stringify({
    type: 'message',
    attachments: [{ contentType: 'application/vnd.microsoft.card.adaptive', contentUrl: null, content: card }],
  })
}

/** Subject and text of an e-mail. */
export const buildEmail = ({ title, sections, link }: AlarmMessage): { readonly subject: string; readonly text: string } => ({
  subject: `[Tallyman] ${title}`,
  text: `${[...sections.map(({ heading, lines }) => `${heading}:\n${formatLines(lines)}`), ...(link === null ? [] : [link])].join('\n\n')}\n`,
})
