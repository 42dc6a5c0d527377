import { nearestName, surely } from '../domain/values/nearest.ts'
import { environment, secrets } from './environment.ts'
import { intervalEnvironment } from './intervals.ts'

const settingNames: readonly string[] = [
  ...Object.keys(environment.shape),
  ...Object.keys(intervalEnvironment.shape),
  ...secrets.map((name) => `${name}_FILE`),
]
/** Variables of the command line, which may be set together with those of the daemon. */
const commandLineNames: readonly string[] = ['SANDBOX_URL', 'TALLYMAN_URL']
/** First words that are specific to Tallyman's variables. */
const ownPrefixes: ReadonlySet<string> = new Set([
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
  'NOTIFICATIONS',
  'ADVERTISER',
  'SHIP',
  'LOOK',
  'MAX',
  'RETAIN',
])
const firstWord = (name: string): string => name.split('_')[0] ?? ''

/** Errors for variables whose names are similar to a setting: ignoring them would silently use a default. */
export const listMisspelt = (source: Readonly<Record<string, string | undefined>>): readonly string[] =>
  Object.keys(source).flatMap((name) => {
    if (settingNames.includes(name) || commandLineNames.includes(name) || (source[name] ?? '') === '') return []
    const near = nearestName(name, settingNames)
    if (near === null || !ownPrefixes.has(firstWord(near))) return []
    return firstWord(name).toUpperCase() === firstWord(near) || nearestName(name, [near], surely) !== null
      ? [`${name}: is not a setting (did you mean ${near}?)`]
      : []
  })

/** Variables that begin like settings but are unknown. They are only a warning: they may be settings of a later version or of another program. */
export const listUnknownSettings = (source: Readonly<Record<string, string | undefined>>): readonly string[] =>
  Object.keys(source).filter(
    (name) => /^(POLL|REREAD|RETAIN)_/.test(name) && !settingNames.includes(name) && (source[name] ?? '') !== '',
  )
