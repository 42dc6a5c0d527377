import type { Intervals } from '../domain/sync/intervals.ts'
import { formatDuration } from '../util/duration.ts'
import { type Environment, environment, secrets } from './environment.ts'
import { findSettingMeta } from './setting-meta.ts'

const secretNames: ReadonlySet<string> = new Set(secrets)

/** The effective value of a setting. */
export interface EffectiveSetting {
  /** Name of the variable. */
  readonly name: string
  /** A sentence with code in backticks. */
  readonly meaning: string
  /** The value as text of the variable; null: it is unset, or a secret. */
  readonly value: string | null
  readonly secret: boolean
  readonly isSet: boolean
  /** `file`: from the file in the variable with `_FILE`. */
  readonly from: 'default' | 'environment' | 'file'
}

/** An address without its possible secrets: user name, password and parameters. */
const withoutSecrets = (text: string): string => {
  const parsed = URL.canParse(text) ? new URL(text) : null
  if (parsed === null || (parsed.username === '' && parsed.password === '' && parsed.search === '')) return text
  parsed.username = ''
  parsed.password = ''
  parsed.search = ''
  return parsed.href
}

/** The meaning without the links of the documentation. */
const withoutLinks = (text: string): string => text.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')

const toText = (value: unknown, isTimeSpan: boolean): string | null => {
  if (value === undefined || value === null) return null
  if (typeof value === 'number') return isTimeSpan ? formatDuration(value) : String(value)
  if (typeof value === 'string') return withoutSecrets(value)
  return Array.isArray(value) ? value.join(',') : JSON.stringify(value)
}

/**
 * Every setting with its effective value, as text of the variable, and its source. Values of secrets are omitted. `logFormat` and `intervals` are the effective
 * values of these settings.
 */
export const effectiveSettings = (
  source: Readonly<Record<string, string | undefined>>,
  values: Environment,
  { logFormat, intervals }: { readonly logFormat: string; readonly intervals: Intervals },
): readonly EffectiveSetting[] => {
  const isGiven = (name: string): boolean => (source[name] ?? '') !== ''
  const settings = Object.entries(environment.shape).map(([name, schema]): EffectiveSetting => {
    const isSecret = secretNames.has(name)
    const from = isSecret && isGiven(`${name}_FILE`) ? 'file' : isGiven(name) ? 'environment' : 'default'
    const value: unknown = name === 'LOG_FORMAT' ? logFormat : Reflect.get(values, name)
    return {
      name,
      meaning: withoutLinks(findSettingMeta(schema, 'description') ?? ''),
      value: isSecret ? null : toText(value, schema.meta()?.['unit'] === 'ms'),
      secret: isSecret,
      isSet: value !== undefined,
      from,
    }
  })
  const polls = Object.entries(intervals).map(
    ([name, every]): EffectiveSetting => ({
      name,
      meaning: 'Interval of reads.',
      value: toText(every, true),
      secret: false,
      isSet: true,
      from: isGiven(name) ? 'environment' : 'default',
    }),
  )
  return [...settings, ...polls].sort((a, b) => (a.name < b.name ? -1 : 1))
}
