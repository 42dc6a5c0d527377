import { readFileSync, statSync } from 'node:fs'
import path from 'node:path'
import { parse, parseAllDocuments } from 'yaml'
import { z } from 'zod'

const literals = z.array(z.string().regex(/^[A-Z_]+=/))
const operation = z.strictObject({
  op: z.enum(['add', 'replace', 'test']),
  path: z.string().startsWith('/'),
  value: z.unknown(),
})
/** The part of Kustomize that this project uses; anything else is a fault. */
const kustomization = z.strictObject({
  apiVersion: z.string(),
  kind: z.enum(['Kustomization', 'Component']),
  namespace: z.string().optional(),
  resources: z.array(z.string()).default([]),
  components: z.array(z.string()).default([]),
  images: z.array(z.strictObject({ name: z.string(), newName: z.string().optional(), newTag: z.string() })).default([]),
  configMapGenerator: z
    .array(z.strictObject({ name: z.string(), behavior: z.literal('merge').optional(), literals }))
    .default([]),
  patches: z
    .array(z.strictObject({ path: z.string(), target: z.strictObject({ kind: z.string(), name: z.string().optional() }) }))
    .default([]),
})
const manifestSchema = z.looseObject({
  apiVersion: z.string(),
  kind: z.string(),
  metadata: z.looseObject({ name: z.string(), namespace: z.string().optional() }),
})

/** An object for the API server. */
export type Manifest = z.infer<typeof manifestSchema>

const isMap = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Applies one operation of a JSON patch. @throws when its path leads nowhere */
const patchAt = (root: unknown, { op, path: pointer, value }: z.infer<typeof operation>, where: string): void => {
  const keys = pointer.split('/').slice(1)
  const last = keys.pop() ?? ''
  let parent = root
  for (const key of keys) {
    parent = Array.isArray(parent) ? parent[Number(key)] : isMap(parent) ? parent[key] : undefined
  }
  const missing = new Error(`${where}: ${pointer} leads nowhere`)
  if (Array.isArray(parent)) {
    if (op === 'add' && last === '-') parent.push(value)
    else if (!(Number(last) < parent.length)) throw missing
    else if (op === 'replace') parent[Number(last)] = value
    else if (parent[Number(last)] !== value) throw new Error(`${where}: ${pointer} is not ${String(value)}`)
    return
  }
  if (!isMap(parent) || (op !== 'add' && !(last in parent))) throw missing
  if (op !== 'test') parent[last] = value
  else if (parent[last] !== value) throw new Error(`${where}: ${pointer} is not ${String(value)}`)
}

const rename = (value: unknown, images: z.infer<typeof kustomization>['images'], hits: Set<string>): void => {
  if (Array.isArray(value)) for (const item of value) rename(item, images, hits)
  if (!isMap(value)) return
  for (const { name, newName = name, newTag } of images) {
    if (typeof value['image'] !== 'string' || value['image'].split(':')[0] !== name) continue
    hits.add(name)
    value['image'] = `${newName}:${newTag}`
    break
  }
  for (const item of Object.values(value)) rename(item, images, hits)
}

const isFolder = (file: string): boolean => statSync(file).isDirectory()

/** Whether `parts` of a folder are applied to `objects`, and what comes of them. */
const build = (folder: string, given: readonly Manifest[]): Manifest[] => {
  const file = path.join(folder, 'kustomization.yaml')
  const settings = kustomization.parse(parse(readFileSync(file, 'utf8')))
  const objects = [...given]
  for (const resource of settings.resources) {
    const place = path.join(folder, resource)
    if (isFolder(place)) objects.push(...build(place, []))
    else
      for (const document of parseAllDocuments(readFileSync(place, 'utf8'))) objects.push(manifestSchema.parse(document.toJS()))
  }
  for (const { name, behavior, literals: lines } of settings.configMapGenerator) {
    const data = Object.fromEntries(lines.map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]))
    const known = objects.find((object) => object.kind === 'ConfigMap' && object.metadata.name === name)
    if ((known === undefined) === (behavior === 'merge')) throw new Error(`${file}: the ConfigMap ${name} cannot be generated`)
    if (known === undefined) objects.push({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, data })
    else known['data'] = { ...(isMap(known['data']) ? known['data'] : {}), ...data }
  }
  const whole = settings.components.reduce((all, component) => build(path.join(folder, component), all), objects)
  for (const { path: patch, target } of settings.patches) {
    const operations = z.array(operation).parse(parse(readFileSync(path.join(folder, patch), 'utf8')))
    const hit = whole.filter(({ kind, metadata }) => kind === target.kind && (target.name ?? metadata.name) === metadata.name)
    if (hit.length === 0) throw new Error(`${file}: no object fits the patch ${patch}`)
    for (const object of hit)
      for (const one of operations) patchAt(object, structuredClone(one), `${patch} in ${object.metadata.name}`)
  }
  const hits = new Set<string>()
  rename(whole, settings.images, hits)
  for (const { name } of settings.images) if (!hits.has(name)) throw new Error(`${file}: no container has the image ${name}`)
  const { namespace } = settings
  if (namespace !== undefined) for (const { metadata } of whole) metadata.namespace = namespace
  return whole
}

/**
 * The objects that Kustomize makes of a folder; names of generated ConfigMaps have no hash.
 * @throws where a file is missing, a patch or an image fits nothing, or a feature is used that is not known here
 */
export const kustomize = (folder: string): readonly Manifest[] => build(folder, [])
