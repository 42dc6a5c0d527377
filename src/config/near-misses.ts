import { nearestName, surely } from '../domain/nearest.ts'
import { environment, secrets } from './environment.ts'
import { intervalEnvironment } from './intervals.ts'

const settingNames: readonly string[] = [
  ...Object.keys(environment.shape),
  ...Object.keys(intervalEnvironment.shape),
  ...secrets.map((name) => `${name}_FILE`),
]
/** Variables of the command line, which may stand beside the daemon's. */
const commandLineNames: readonly string[] = ['SANDBOX_URL', 'TALLYMAN_URL']
/** First words that nobody else's variables have: what begins like this is meant for us. */
const ownWords: ReadonlySet<string> = new Set([
  'POLL',
  'REREAD',
  'MARKETPLACE',
  'SELLERS',
  'DISPLAY',
  'SANDBOX',
  'CAMPAIGN',
  'INVENTORY',
  'QUANTITY',
  'SETTLE',
  'EVENTS',
  'ADVERTISER',
  'SHIP',
  'LOOK',
  'MAX',
  'RETAIN',
])
const firstWord = (name: string): string => name.split('_')[0] ?? ''

/** Variables that are nearly a setting: a setting that is ignored does something else than what was meant. */
export const misspelt = (source: Readonly<Record<string, string | undefined>>): readonly string[] =>
  Object.keys(source).flatMap((name) => {
    if (settingNames.includes(name) || commandLineNames.includes(name) || (source[name] ?? '') === '') return []
    const near = nearestName(name, settingNames)
    if (near === null || !ownWords.has(firstWord(near))) return []
    return firstWord(name).toUpperCase() === firstWord(near) || nearestName(name, [near], surely) !== null
      ? [`${name}: is no setting; accepted: ${near}, which is near`]
      : []
  })

/** Variables that begin like settings and are none, for a warning: an earlier version may not know them yet, and others may set them. */
export const unknownSettings = (source: Readonly<Record<string, string | undefined>>): readonly string[] =>
  Object.keys(source).filter(
    (name) => /^(POLL|REREAD|RETAIN)_/.test(name) && !settingNames.includes(name) && (source[name] ?? '') !== '',
  )
