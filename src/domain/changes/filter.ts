import { z } from 'zod'
import { nearestName } from '../nearest.ts'
import { allChangeTypes, type ChangeType } from './catalogue.ts'

// Which types of changes somebody wants: names of types, and `order.*` for all of a family. Shared by the feed and by webhooks.

const families = [...new Set(allChangeTypes.map((type) => `${type.slice(0, type.indexOf('.'))}.*`))]
const patterns: readonly string[] = [...allChangeTypes, ...families, '*']

const matchesPattern = (type: string, pattern: string): boolean =>
  pattern === '*' || pattern === type || (pattern.endsWith('.*') && type.startsWith(pattern.slice(0, -1)))

/** One entry of a filter: a type of the catalogue, `family.*`, or `*`. */
export const typePatternSchema = z.string().superRefine((pattern, context) => {
  if (patterns.includes(pattern)) return
  const near = nearestName(pattern, patterns)
  context.addIssue(`contains ${pattern.slice(0, 60)}, which is no type of change${near === null ? '' : `; ${near} is near`}`)
})

/** Whether a change of this type is wanted; no patterns: every one is. */
export const matchesTypes = (type: string, wanted: readonly string[]): boolean =>
  wanted.length === 0 || wanted.some((pattern) => matchesPattern(type, pattern))

/** The types of the catalogue that patterns mean; null: all, whatever the catalogue has. */
export const typesOf = (wanted: readonly string[]): readonly ChangeType[] | null =>
  wanted.length === 0 || wanted.includes('*') ? null : allChangeTypes.filter((type) => matchesTypes(type, wanted))
