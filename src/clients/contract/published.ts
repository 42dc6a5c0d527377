import { z } from 'zod'
import { jsonTypes, normalValue, type Shape } from '../../domain/drift/shape.ts'

/** What is published about a record beside its schema. Paths have dots for members and `[]` for the elements of a list; the record itself is ''. */
export interface Publication {
  /** Published members that no rule needs, by the path of their object; their contents are not compared. */
  readonly also?: Readonly<Record<string, readonly string[]>>
  /** The schema of a member that the record's schema leaves open. */
  readonly parts?: Readonly<Record<string, z.ZodType>>
  /** The values of published enumerations. A value that is not among them is stored as any other. */
  readonly values?: Readonly<Record<string, readonly string[]>>
}

const allTypes = Object.values(jsonTypes).reduce((bits, bit) => bits | bit, 0)
const anything: Shape = { types: allTypes, members: null, element: null, values: null }

const onlyType = (types: number): Shape => ({ ...anything, types })

const join = (path: string, name: string): string => (path === '' ? name : `${path}.${name}`)

const mergeMembers = (one: Shape['members'], other: Shape['members']): Shape['members'] => {
  if (one === null || other === null) return one ?? other
  const merged = new Map(one)
  for (const [name, shape] of other) merged.set(name, mergeShapes(merged.get(name) ?? shape, shape))
  return merged
}

const mergeShapes = (one: Shape, other: Shape): Shape => ({
  types: one.types | other.types,
  members: mergeMembers(one.members, other.members),
  element:
    one.element === null || other.element === null ? (one.element ?? other.element) : mergeShapes(one.element, other.element),
  values: one.values ?? other.values,
})

const buildObject = (schema: z.ZodObject, path: string, publication: Publication): Shape => {
  const also = publication.also?.[path] ?? []
  const named = Object.entries(schema.shape).map(([name, member]): [string, Shape] => [
    name,
    buildShape(member, join(path, name), publication),
  ])
  const opaque = also.map((name): [string, Shape] => [name, { ...anything, values: valuesAt(publication, join(path, name)) }])
  return { ...onlyType(jsonTypes.object), members: new Map([...opaque, ...named]) }
}

const valuesAt = ({ values }: Publication, path: string): Shape['values'] => {
  const listed = values?.[path]
  return listed === undefined ? null : new Set([...listed, ...listed.map(normalValue)])
}

const buildText = (path: string, publication: Publication): Shape => ({
  ...onlyType(jsonTypes.text),
  values: valuesAt(publication, path),
})

/** The shape of a schema. What the schema leaves open is not compared. */
const buildShape = (schema: z.core.$ZodType, path: string, publication: Publication): Shape => {
  const part = publication.parts?.[path]
  if (part !== undefined) return buildShape(part, path, { ...publication, parts: without(publication.parts, path) })
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodNullable || schema instanceof z.ZodCatch)
    return buildShape(schema.def.innerType, path, publication)
  // One side of a pipe is a function: of `preprocess` the first one.
  if (schema instanceof z.ZodPipe)
    return buildShape(schema.def.in instanceof z.ZodTransform ? schema.def.out : schema.def.in, path, publication)
  if (schema instanceof z.ZodObject) return buildObject(schema, path, publication)
  if (schema instanceof z.ZodArray)
    return { ...onlyType(jsonTypes.list), element: buildShape(schema.def.element, `${path}[]`, publication) }
  if (schema instanceof z.ZodUnion)
    return schema.def.options.map((option) => buildShape(option, path, publication)).reduce(mergeShapes)
  if (schema instanceof z.ZodString) return buildText(path, publication)
  if (schema instanceof z.ZodNumber) return onlyType(jsonTypes.number)
  if (schema instanceof z.ZodBoolean) return onlyType(jsonTypes.boolean)
  return anything
}

const without = (parts: Publication['parts'], path: string): NonNullable<Publication['parts']> =>
  Object.fromEntries(Object.entries(parts ?? {}).filter(([name]) => name !== path))

const listPaths = (shape: Shape, path: string): readonly string[] => [
  path,
  ...[...(shape.members ?? [])].flatMap(([name, member]) => listPaths(member, join(path, name))),
  ...(shape.element === null ? [] : listPaths(shape.element, `${path}[]`)),
]

/**
 * The published shape of a record: the members of its schema, and what else is published.
 *
 * @throws TypeError if the publication names a place that the schema does not have
 */
export const describePublished = (schema: z.ZodType, publication: Publication = {}): Shape => {
  const shape = buildShape(schema, '', publication)
  const paths = new Set(listPaths(shape, ''))
  const named = [publication.also, publication.parts, publication.values].flatMap((places) => Object.keys(places ?? {}))
  const missing = named.find((path) => !paths.has(path))
  if (missing !== undefined) throw new TypeError(`nothing is published at ${missing}`)
  return shape
}
