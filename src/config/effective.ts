import { durationText } from '../duration.ts'
import type { EffectiveSetting } from '../http/services.ts'
import type { Intervals } from '../jobs/sync/intervals.ts'
import { type Environment, environment, secrets } from './environment.ts'

const secretNames: ReadonlySet<string> = new Set(secrets)

/** An address without what may be secret in it: user name, password and parameters. */
const withoutSecrets = (text: string): string => {
  const parsed = URL.canParse(text) ? new URL(text) : null
  if (parsed === null || (parsed.username === '' && parsed.password === '' && parsed.search === '')) return text
  parsed.username = ''
  parsed.password = ''
  parsed.search = ''
  return parsed.href
}

const textOf = (value: unknown, isTimeSpan: boolean): string | null => {
  if (value === undefined || value === null) return null
  if (typeof value === 'number') return isTimeSpan ? durationText(value) : String(value)
  if (typeof value === 'string') return withoutSecrets(value)
  return Array.isArray(value) ? value.join(',') : JSON.stringify(value)
}

/**
 * Every setting with the value that is in force, as the text that the variable would have, and where it comes from. Values of secrets are left
 * out. `logFormat` and `intervals` are what holds where their variables are not set.
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
    const isSet = value !== undefined
    return { name, value: isSecret ? null : textOf(value, schema.meta()?.['unit'] === 'ms'), secret: isSecret, isSet, from }
  })
  const polls = Object.entries(intervals).map(
    ([name, every]): EffectiveSetting => ({
      name,
      value: textOf(every, true),
      secret: false,
      isSet: true,
      from: isGiven(name) ? 'environment' : 'default',
    }),
  )
  return [...settings, ...polls].sort((a, b) => (a.name < b.name ? -1 : 1))
}
