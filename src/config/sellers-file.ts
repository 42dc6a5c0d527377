import path from 'node:path'
import type { z } from 'zod'
import { nearestName } from '../domain/nearest.ts'
import { type Credential, readCredential } from './credentials.ts'
import { operationNames, rateLimit, rateLimitsAccepted } from './rate-limits.ts'
import { type SellerEntry, sellerEntry, sellersDocument } from './seller-entry.ts'
import { type LineOf, readYamlFile } from './yaml-file.ts'

/** A seller of the file, with its credentials wherever they stand. */
export type CheckedSeller = SellerEntry & Readonly<Record<Credential, string>>

/** What the file is held against. */
export interface SellersFileSetting {
  readonly file: string
  /** What entries may name. */
  readonly variables: Readonly<Record<string, string | undefined>>
  /** Whether sellers without an address of their own have one. */
  readonly hasMarketplaceUrl: boolean
}

/** A fault, and the place of the file that it is about. */
interface Fault {
  readonly path: readonly PropertyKey[]
  readonly text: string
}

/** `sellers[0].clientId` of a place in the file. */
const placeIn = (place: readonly PropertyKey[]): string =>
  place.reduce<string>(
    (all, key) => (typeof key === 'number' ? `${all}[${key}]` : all === '' ? String(key) : `${all}.${String(key)}`),
    '',
  )

const mostFaultsOfFile = 20
const acceptedMembers = 'accepted: sellers, each with sellerId, clientId and clientSecret (or …File, …Env of these)'

/** What is accepted at a place of an entry, and the names of members there. */
const acceptedAt = (place: readonly PropertyKey[]): { readonly text: string; readonly names: readonly string[] } => {
  if (place[2] === 'rateLimits')
    return {
      text: `accepted: ${rateLimitsAccepted}; operations: ${operationNames.join(', ')}`,
      names: Object.keys(rateLimit.shape),
    }
  return { text: acceptedMembers, names: place.length <= 1 ? ['sellers'] : Object.keys(sellerEntry.shape) }
}

/** What stands where a name should may be a value, after a colon without its space: only what can be a name is repeated. */
const canBeName = (key: string): boolean => /^[A-Za-z]{1,32}$/.test(key)

const faultsOfShape = (error: z.ZodError): readonly Fault[] =>
  error.issues.flatMap((issue): readonly Fault[] => {
    const accepted = acceptedAt(issue.path)
    if (issue.code === 'unrecognized_keys') {
      return issue.keys.map((key) => {
        if (!canBeName(key)) return { path: issue.path, text: `has a member whose name is unknown; ${accepted.text}` }
        const near = nearestName(key, accepted.names)
        return { path: [...issue.path, key], text: `is unknown${near === null ? '' : `, ${near} is near`}; ${accepted.text}` }
      })
    }
    const isMissing = issue.code === 'invalid_type' && /received undefined$/.test(issue.message)
    return [{ path: issue.path, text: `${isMissing ? 'is missing' : `is wrong: ${issue.message}`}; ${accepted.text}` }]
  })

/** The sellers that have no fault; the faults of the others join `faults`. */
const checkSellers = (
  entries: readonly SellerEntry[],
  setting: SellersFileSetting,
  faults: Fault[],
): readonly CheckedSeller[] => {
  const sources = { folder: path.dirname(setting.file), variables: setting.variables }
  const firstOf = new Map<string, number>()
  return entries.flatMap((entry, index): readonly CheckedSeller[] => {
    const at = (member: keyof SellerEntry): readonly PropertyKey[] => ['sellers', index, member]
    const first = firstOf.get(entry.sellerId)
    if (first === undefined) firstOf.set(entry.sellerId, index)
    else faults.push({ path: at('sellerId'), text: `stands in it twice, as in sellers[${first}]; accepted: each seller once` })
    if (entry.marketplaceUrl === undefined && !setting.hasMarketplaceUrl)
      faults.push({
        path: at('marketplaceUrl'),
        text: 'is missing while MARKETPLACE_URL is unset; accepted: the address of the marketplace, there or with each seller',
      })
    const [clientId, clientSecret] = (['clientId', 'clientSecret'] as const).map((credential) => {
      const read = readCredential(entry, credential, sources)
      if (read.ok) return read.value
      faults.push({ path: at(read.member), text: read.fault })
      return undefined
    })
    return clientId === undefined || clientSecret === undefined ? [] : [{ ...entry, clientId, clientSecret }]
  })
}

/** What is wrong with a file of sellers, each with its line and place; no value is repeated, it may be a secret. */
const sellersFaults = (found: readonly Fault[], lineOf: LineOf): readonly string[] => {
  const faults = found.map(({ path: place, text }) => `line ${lineOf(place)}: ${placeIn(place) || 'the document'} ${text}`)
  return faults.length <= mostFaultsOfFile
    ? faults
    : [...faults.slice(0, mostFaultsOfFile), `and ${faults.length - mostFaultsOfFile} more`]
}

/** The sellers of `SELLERS_FILE`. What is wrong with it joins `faults`; what is answered then is not to be used. */
export const readSellersFile = (setting: SellersFileSetting, faults: string[]): readonly CheckedSeller[] => {
  const { file } = setting
  const source = readYamlFile(file)
  if (!source.ok) {
    faults.push(`SELLERS_FILE: ${file} cannot be read as JSON or YAML: ${source.fault}`)
    return []
  }
  const isList = Array.isArray(source.value)
  const parsed = sellersDocument.safeParse(isList ? { sellers: source.value } : (source.value ?? {}))
  const found: Fault[] = []
  const sellers = parsed.success ? checkSellers(parsed.data.sellers, setting, found) : []
  if (!parsed.success) found.push(...faultsOfShape(parsed.error))
  // The list alone is accepted too: its places are those of the document, and its lines its own.
  const lineOf: LineOf = (place) => source.lineOf(isList ? place.slice(1) : place)
  for (const fault of sellersFaults(found, lineOf)) faults.push(`SELLERS_FILE: ${file}: ${fault}`)
  return sellers
}
