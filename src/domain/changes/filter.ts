import { z } from 'zod'
import { nearestName } from '../values/nearest.ts'
import { allChangeTypes, type ChangeType } from './catalogue.ts'

// Filters by types of changes: names of types, and `order.*` for all types of a family. The feed and webhooks use them.

const families = [...new Set(allChangeTypes.map((type) => `${type.slice(0, type.indexOf('.'))}.*`))]
const patterns: readonly string[] = [...allChangeTypes, ...families, '*']

const matchesPattern = (type: string, pattern: string): boolean =>
  pattern === '*' || pattern === type || (pattern.endsWith('.*') && type.startsWith(pattern.slice(0, -1)))

/** One entry of a filter: a type of the catalogue, `family.*`, or `*`. */
export const typePatternSchema = z.string().superRefine((pattern, context) => {
  if (patterns.includes(pattern)) return
  const near = nearestName(pattern, patterns)
  context.addIssue(
    `contains ${pattern.slice(0, 60)}, which is not a type of change${near === null ? '' : ` (did you mean ${near}?)`}`,
  )
})

/** Whether a change of this type matches one of the patterns. Without patterns, every type matches. */
export const matchesTypes = (type: string, wanted: readonly string[]): boolean =>
  wanted.length === 0 || wanted.some((pattern) => matchesPattern(type, pattern))

/** The types of the catalogue that match; null: all types. */
export const findTypes = (wanted: readonly string[]): readonly ChangeType[] | null =>
  wanted.length === 0 || wanted.includes('*') ? null : allChangeTypes.filter((type) => matchesTypes(type, wanted))
