import type { Verdict } from './classify.ts'

/** Minimum length of the beginning of a secret that is redacted at the end of a text. */
const minPrefixLength = 6

const redact = (text: string, secret: string): string => {
  if (secret === '') return text
  const redacted = text.replaceAll(secret, '[redacted]')
  // Texts of errors are truncated, perhaps within a secret.
  for (let length = Math.min(secret.length - 1, redacted.length); length >= minPrefixLength; length -= 1) {
    if (redacted.endsWith(secret.slice(0, length))) return `${redacted.slice(0, -length)}[redacted]`
  }
  return redacted
}

/** A verdict without the secrets of its request. A gateway may echo what it received; the echo must not reach the database or a log. */
export const redactSecrets = (verdict: Verdict, secrets: readonly string[]): Verdict => {
  const hide = (text: string | null): string | null => (text === null ? null : secrets.reduce(redact, text))
  const faults = verdict.faults.map(({ code, field, description }) => ({
    code: hide(code),
    field: hide(field),
    description: hide(description),
  }))
  return { ...verdict, faults }
}
