import { z } from 'zod'

/** What the metadata of a setting's schema, or of what it wraps, says under a name; null: nothing. */
export const findSettingMeta = (schema: z.ZodType, name: string): string | null => {
  const said = schema.meta()?.[name]
  if (typeof said === 'string') return said
  const wraps = schema instanceof z.ZodOptional || schema instanceof z.ZodDefault
  const inner = wraps ? schema.unwrap() : null
  return inner instanceof z.ZodType ? findSettingMeta(inner, name) : null
}
