import path from 'node:path'
import type { z } from 'zod'
import { operationNames } from '../clients/marketplace/endpoints.ts'
import { nearestName } from '../domain/values/nearest.ts'
import { type Credential, hasCredential, readCredential } from './credentials.ts'
import { notificationsSecret as notificationsSecretSchema } from './environment.ts'
import { partnerIdFault } from './partner-id.ts'
import { rateLimit, rateLimitsAccepted } from './rate-limits.ts'
import { type SellerEntry, sellerEntry, sellersDocument } from './seller-entry.ts'
import { type FindLine, readYamlFile } from './yaml-file.ts'

/** A seller of the file, with its credentials. */
export type CheckedSeller = Omit<SellerEntry, Credential> &
  Readonly<Record<'clientId' | 'clientSecret', string>> &
  Readonly<Record<'refreshToken' | 'notificationsSecret', string | null>>

/** How the file is read. */
export interface SellersFileSetting {
  readonly file: string
  /** The variables that entries may name. */
  readonly variables: Readonly<Record<string, string | undefined>>
  /** Whether there is an address for sellers without their own. */
  readonly hasMarketplaceUrl: boolean
}

/** A fault and its place in the file. */
interface Fault {
  readonly path: readonly PropertyKey[]
  readonly text: string
}

/** A place in the file, such as `sellers[0].clientId`. */
const formatPath = (place: readonly PropertyKey[]): string =>
  place.reduce<string>(
    (all, key) => (typeof key === 'number' ? `${all}[${key}]` : all === '' ? String(key) : `${all}.${String(key)}`),
    '',
  )

const maxFaultsOfFile = 20
const acceptedMembers = 'accepted: sellers, each with sellerId, clientId and clientSecret (or …File, …Env of these)'

/** The accepted values at a place of an entry, and the names of its members. */
const acceptedAt = (place: readonly PropertyKey[]): { readonly text: string; readonly names: readonly string[] } => {
  if (place[2] === 'rateLimits')
    return {
      text: `accepted: ${rateLimitsAccepted}; operations: ${operationNames.join(', ')}`,
      names: Object.keys(rateLimit.shape),
    }
  return { text: acceptedMembers, names: place.length <= 1 ? ['sellers'] : Object.keys(sellerEntry.shape) }
}

/** After a colon without a space, a name may contain a value. Only a possible name is repeated in a message. */
const canBeName = (key: string): boolean => /^[A-Za-z]{1,32}$/.test(key)

const listShapeFaults = (error: z.ZodError): readonly Fault[] =>
  error.issues.flatMap((issue): readonly Fault[] => {
    const accepted = acceptedAt(issue.path)
    if (issue.code === 'unrecognized_keys') {
      return issue.keys.map((key) => {
        if (!canBeName(key)) return { path: issue.path, text: `has a member whose name is unknown; ${accepted.text}` }
        const near = nearestName(key, accepted.names)
        return {
          path: [...issue.path, key],
          text: `is unknown${near === null ? '' : ` (did you mean ${near}?)`}; ${accepted.text}`,
        }
      })
    }
    const isMissing = issue.code === 'invalid_type' && /received undefined$/.test(issue.message)
    return [{ path: issue.path, text: `${isMissing ? 'is missing' : `is wrong: ${issue.message}`}; ${accepted.text}` }]
  })

/** The valid sellers. Adds the faults of the others to `faults`. */
const checkSellers = (
  entries: readonly SellerEntry[],
  setting: SellersFileSetting,
  faults: Fault[],
): readonly CheckedSeller[] => {
  const sources = { folder: path.dirname(setting.file), variables: setting.variables }
  const firstLines = new Map<string, number>()
  return entries.flatMap((entry, index): readonly CheckedSeller[] => {
    const at = (member: keyof SellerEntry): readonly PropertyKey[] => ['sellers', index, member]
    const first = firstLines.get(entry.sellerId)
    if (first === undefined) firstLines.set(entry.sellerId, index)
    else faults.push({ path: at('sellerId'), text: `appears twice, first in sellers[${first}]; accepted: each seller once` })
    if (entry.marketplaceUrl === undefined && !setting.hasMarketplaceUrl)
      faults.push({
        path: at('marketplaceUrl'),
        text: 'is missing while MARKETPLACE_URL is unset; accepted: the address of the marketplace, in the variable or in each seller',
      })
    const readOne = (credential: Credential): string | undefined => {
      const read = readCredential(entry, credential, sources)
      if (read.ok) return read.value
      faults.push({ path: at(read.member), text: read.fault })
      return undefined
    }
    const [clientId, clientSecret] = [readOne('clientId'), readOne('clientSecret')]
    const refreshToken = hasCredential(entry, 'refreshToken') ? readOne('refreshToken') : null
    const notificationsSecret = hasCredential(entry, 'notificationsSecret') ? readOne('notificationsSecret') : null
    const partnerFault = partnerIdFault({ ...entry, refreshToken: refreshToken ?? null })
    if (partnerFault !== null) faults.push({ path: at('partnerId'), text: partnerFault })
    // A secret of a file or a variable has not been checked yet.
    const checked = notificationsSecretSchema.nullish().safeParse(notificationsSecret)
    if (!checked.success)
      faults.push({ path: at('notificationsSecret'), text: checked.error.issues[0]?.message ?? 'is not a secret' })
    if (clientId === undefined || clientSecret === undefined || refreshToken === undefined || notificationsSecret === undefined)
      return []
    return [{ ...entry, clientId, clientSecret, refreshToken, notificationsSecret }]
  })
}

/** The faults of a file of sellers with their lines and places, without values, which may be secrets. */
const formatFaults = (found: readonly Fault[], findLine: FindLine): readonly string[] => {
  const faults = found.map(({ path: place, text }) => `line ${findLine(place)}: ${formatPath(place) || 'the document'} ${text}`)
  return faults.length <= maxFaultsOfFile
    ? faults
    : [...faults.slice(0, maxFaultsOfFile), `and ${faults.length - maxFaultsOfFile} more`]
}

/** The sellers of `SELLERS_FILE`. Adds errors to `faults`; then the result must not be used. */
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
  if (!parsed.success) found.push(...listShapeFaults(parsed.error))
  // A plain list is also accepted: places are reported as in a document, lines as in the file.
  const findLine: FindLine = (place) => source.findLine(isList ? place.slice(1) : place)
  for (const fault of formatFaults(found, findLine)) faults.push(`SELLERS_FILE: ${file}: ${fault}`)
  return sellers
}
