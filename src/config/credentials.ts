import path from 'node:path'
import { readRegularText } from '../util/regular-file.ts'
import type { SellerEntry } from './seller-entry.ts'

/** A credential that an entry may contain in three forms: as its value, as the path of a file, or as the name of a variable. */
export type Credential = 'clientId' | 'clientSecret' | 'refreshToken' | 'notificationsSecret'

/** The sources of files and variables that an entry names. */
export interface CredentialSources {
  /** Paths are relative to this folder. */
  readonly folder: string
  readonly variables: Readonly<Record<string, string | undefined>>
}

/** The value, or the wrong member and the reason, without any value. */
export type CredentialRead =
  | { readonly ok: true; readonly value: string }
  | { readonly ok: false; readonly member: keyof SellerEntry; readonly fault: string }

const listMembers = (credential: Credential) => [credential, `${credential}File`, `${credential}Env`] as const

/** Whether an entry contains a credential, in any form. */
export const hasCredential = (entry: SellerEntry, credential: Credential): boolean =>
  listMembers(credential).some((member) => entry[member] !== undefined)

/** Reads a credential of a seller in the form of its entry. */
export const readCredential = (
  entry: SellerEntry,
  credential: Credential,
  { folder, variables }: CredentialSources,
): CredentialRead => {
  const members = listMembers(credential)
  const [, fileMember, variableMember] = members
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
    return content === '' ? fault('names an empty file; accepted: a file that contains it') : { ok: true, value: content }
  }
  if (variable !== undefined) {
    const value = variables[variable]?.trim() ?? ''
    return value === ''
      ? // The member may contain the credential itself, so it is not repeated.
        fault('names a variable that is unset or empty; accepted: the name of a variable that contains it')
      : { ok: true, value }
  }
  return { ok: true, value: plain ?? '' }
}
