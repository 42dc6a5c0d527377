import { alarmKinds, alarmRules, alarmSeverities } from './alarm-rules.ts'

// The page docs/alarms.md, made from the rules.

const introduction = `# Alarms: what needs somebody

<!-- Made from src/domain/alarm-rules.ts by npm run alarms-page. -->
An alarm is a row of \`tallyman.alarms\`. Every minute one process looks for the conditions below; held and rejected commands, stopped sellers and others open
theirs where they happen. One alarm is open for each seller, kind and subject. Deadlines of orders are one alarm for each seller, with \`count\` and the earliest
deadline (\`dueAt\`), not one for each order: \`list\` is the path of the orders themselves.

- **Read:** \`GET /v1/alarms\` (\`severity\`, \`kind\`, \`silenced\` …), \`npx tallyman alarms\`.
- **In the feed and webhooks:** \`alarm.raised\`, \`alarm.silenced\`, \`alarm.resolved\`, within a minute ([changes.md](changes.md)). For a webhook that gets alarms
  only: \`{"url": …, "types": ["alarm.*"]}\`. A change of \`count\` is not reported.
- **In metrics:** \`tallyman_alarms_open{kind,severity}\` and \`tallyman_alarms_silenced{kind,severity}\`.
- **Silence:** \`POST /v1/alarms/{id}/silence\` with \`until\` and \`reason\`, or \`npx tallyman alarms silence ID --until DATE --reason "…"\`. It stays open and is not
  counted as open; so is one of the same kind and subject that opens before then. A moment that has passed ends the silence.
- **Resolve:** most close with their cause. Those about something past are closed by a person: \`POST /v1/alarms/{id}/resolve\`, or
  \`npx tallyman alarms resolve ID --reason "…"\`. Both acts are in the audit.

Severities: \`critical\`: units, money or a deadline are being lost now; \`warning\`: they will be if nobody acts; \`notice\`: to be known.

`

const wrapped = (text: string): string => {
  const lines = ['']
  for (const word of text.split(' ')) {
    const last = lines.at(-1) ?? ''
    if (last.length + word.length >= 155) lines.push(`  ${word}`)
    else lines[lines.length - 1] = last === '' ? word : `${last} ${word}`
  }
  return lines.join('\n')
}

/** Where docs/runbooks.md goes through it step by step. */
const runbooks: Readonly<Partial<Record<(typeof alarmKinds)[number], string>>> = {
  'acknowledge-deadline': 'orders-are-not-acknowledged-in-time',
  'command-held': 'a-command-is-held',
  'event-rejected': 'an-event-was-rejected',
  'credentials-refused': 'credentials-are-refused',
  'credentials-outdated': 'credentials-are-refused',
  'sync-failing': 'the-marketplace-does-not-answer',
  'sync-behind': 'the-marketplace-answers-429',
  'reading-skipped': 'records-cannot-be-read',
  'quarantine-growing': 'records-cannot-be-read',
  'webhook-failing': 'a-webhook-was-stopped',
  'webhook-stopped': 'a-webhook-was-stopped',
}

const sectionOf = (kind: (typeof alarmKinds)[number]): string => {
  const { severity, concerns, title, opens, subject, closes, toDo, list } = alarmRules[kind]
  const runbook = runbooks[kind]
  return [
    `### \`${kind}\``,
    `${title}. ${severity}, for the ${concerns}.`,
    '',
    wrapped(`- **Opens:** ${opens}`),
    wrapped(`- **Subject:** ${subject}.`),
    `- **Closes:** ${closes === 'cause' ? 'with its cause.' : 'by a person, after looking.'}`,
    wrapped(`- **What to do:** ${toDo}`),
    ...(list === null ? [] : [`- **List:** \`GET ${list}\``]),
    ...(runbook === undefined ? [] : [`- **Step by step:** [runbooks.md](runbooks.md#${runbook})`]),
    '',
  ].join('\n')
}

/** The text of docs/alarms.md. */
export const alarmsPage = (): string => {
  const rows = alarmSeverities.flatMap((severity) =>
    alarmKinds
      .filter((kind) => alarmRules[kind].severity === severity)
      .map((kind) => `| [\`${kind}\`](#${kind}) | ${severity} | ${alarmRules[kind].concerns} | ${alarmRules[kind].title} |`),
  )
  const table = ['| kind | severity | for | what |', '| --- | --- | --- | --- |', ...rows].join('\n')
  return `${introduction}${table}\n\n## Kinds\n${alarmKinds.map(sectionOf).join('\n')}`
}
