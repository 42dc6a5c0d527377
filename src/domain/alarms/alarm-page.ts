import { alarmKinds, alarmRules, alarmSeverities } from './alarm-rules.ts'

// Generates the page docs/alarms.md from the rules.

const introduction = `# Alarms: what needs action

<!-- Made from src/domain/alarms/alarm-rules.ts by npm run alarms-page. -->
An alarm is a row of \`tallyman.alarms\`. One process checks the conditions below every minute. Some alarms open immediately, for example those of held and
rejected commands and stopped sellers. One alarm is open for each seller, kind and subject. All orders with a deadline are one alarm for each seller, with
\`count\` and the earliest deadline (\`dueAt\`): \`list\` is the path that lists these orders.

- **Read:** \`GET /v1/alarms\` (\`severity\`, \`kind\`, \`silenced\` …), \`npx tallyman alarms\`.
- **To people:** Slack, Teams and e-mail, with rules by severity, audience, seller and hour ([alarm-channels.md](alarm-channels.md)).
- **In the feed and webhooks:** \`alarm.raised\`, \`alarm.silenced\`, \`alarm.resolved\`, within a minute ([changes.md](changes.md)). A webhook that receives only
  alarms: \`{"url": …, "types": ["alarm.*"]}\`. A change of \`count\` is not reported.
- **In metrics:** \`tallyman_alarms_open{kind,severity}\` and \`tallyman_alarms_silenced{kind,severity}\`.
- **Silence:** \`POST /v1/alarms/{id}/silence\` with \`until\` and \`reason\`, or \`npx tallyman alarms silence ID --until DATE --reason "…"\`. A silenced alarm stays
  open but is not counted as open. The silence also applies to a new alarm of the same kind and subject. A time in the past ends the silence.
- **Resolve:** most alarms close when their cause ends. A person closes alarms about past events: \`POST /v1/alarms/{id}/resolve\`, or
  \`npx tallyman alarms resolve ID --reason "…"\`. The audit records both actions.

Severities: \`critical\`: units, money or a deadline are being lost now; \`warning\`: they will be lost without action; \`notice\`: information.

Each alarm has one audience (\`concerns\`), which must act on it. \`warehouse\`: the staff that acknowledge, pack, ship and count; \`integrator\`: the developers of
the ERP and of the receivers of webhooks; \`operator\`: the administrators of this daemon, its settings and credentials.

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

/** Sections of docs/runbooks.md with detailed steps. */
const runbooks: Readonly<Partial<Record<(typeof alarmKinds)[number], string>>> = {
  'acknowledge-deadline': 'orders-are-not-acknowledged-in-time',
  'command-held': 'a-command-is-held',
  'event-rejected': 'an-event-was-rejected',
  'credentials-refused': 'credentials-are-refused',
  'credentials-outdated': 'credentials-are-refused',
  'refresh-token-replaced': 'credentials-are-refused',
  'sync-failing': 'the-marketplace-does-not-answer',
  'sync-behind': 'the-marketplace-answers-429',
  'reading-skipped': 'records-cannot-be-read',
  'order-unreadable': 'records-cannot-be-read',
  'quarantine-growing': 'records-cannot-be-read',
  'webhook-failing': 'a-webhook-was-stopped',
  'webhook-stopped': 'a-webhook-was-stopped',
}

const formatSection = (kind: (typeof alarmKinds)[number]): string => {
  const { severity, concerns, title, opens, subject, closes, toDo, list } = alarmRules[kind]
  const runbook = runbooks[kind]
  return [
    `### \`${kind}\``,
    `${title}. ${severity}, for the ${concerns}.`,
    '',
    wrapped(`- **Opens:** ${opens}`),
    wrapped(`- **Subject:** ${subject}.`),
    `- **Closes:** ${closes === 'cause' ? 'when its cause ends.' : 'by a person, after a check.'}`,
    wrapped(`- **What to do:** ${toDo}`),
    ...(list === null ? [] : [`- **List:** \`GET ${list}\``]),
    ...(runbook === undefined ? [] : [`- **Step by step:** [runbooks.md](runbooks.md#${runbook})`]),
    '',
  ].join('\n')
}

/** The text of docs/alarms.md. */
export const buildAlarmsPage = (): string => {
  const rows = alarmSeverities.flatMap((severity) =>
    alarmKinds
      .filter((kind) => alarmRules[kind].severity === severity)
      .map((kind) => `| [\`${kind}\`](#${kind}) | ${severity} | ${alarmRules[kind].concerns} | ${alarmRules[kind].title} |`),
  )
  const table = ['| kind | severity | for | what |', '| --- | --- | --- | --- |', ...rows].join('\n')
  return `${introduction}${table}\n\n## Kinds\n${alarmKinds.map(formatSection).join('\n')}`
}
