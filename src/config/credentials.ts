import path from 'node:path'
import { readRegularText } from '../regular-file.ts'
import type { SellerEntry } from './seller-entry.ts'

/** What an entry may give in three ways: as it is, as the path of a file, or as the name of a variable. */
export type Credential = 'clientId' | 'clientSecret'

/** Where files and variables are looked up that an entry names. */
export interface CredentialSources {
  /** Paths are relative to this folder. */
  readonly folder: string
  readonly variables: Readonly<Record<string, string | undefined>>
}

/** The value, or the member that is at fault and why, without any value. */
export type CredentialRead =
  | { readonly ok: true; readonly value: string }
  | { readonly ok: false; readonly member: keyof SellerEntry; readonly fault: string }

/** Reads a credential of a seller in the one way that its entry gives it. */
export const readCredential = (
  entry: SellerEntry,
  credential: Credential,
  { folder, variables }: CredentialSources,
): CredentialRead => {
  const [fileMember, variableMember] = [`${credential}File`, `${credential}Env`] as const
  const members = [credential, fileMember, variableMember] as const
  const given = members.filter((member) => entry[member] !== undefined)
  const accepted = `one of ${members.join(', ')}`
  const [first, second] = given
  if (first === undefined) return { ok: false, member: credential, fault: `is missing; accepted: ${accepted}` }
  if (second !== undefined) return { ok: false, member: second, fault: `is set beside ${first}; accepted: ${accepted}` }
  const fault = (why: string): CredentialRead => ({ ok: false, member: first, fault: why })

  const [plain, file, variable] = [entry[credential], entry[fileMember], entry[variableMember]]
  if (file !== undefined) {
    const read = readRegularText(path.resolve(folder, file))
    if (!read.ok) return fault(`cannot be read: ${read.why}; accepted: the path of a regular file`)
    const content = read.content.trim()
    return content === '' ? fault('names an empty file; accepted: one that holds it') : { ok: true, value: content }
  }
  if (variable !== undefined) {
    const value = variables[variable]?.trim() ?? ''
    return value === ''
      ? // What stands there may be the credential itself.
        fault('names a variable that is unset or empty; accepted: the name of a variable that holds it')
      : { ok: true, value }
  }
  return { ok: true, value: plain ?? '' }
}
