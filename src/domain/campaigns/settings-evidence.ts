import type { Evidence } from '../commands/evidence.ts'
import { type AccountSettings, settingsDifferences } from './shipping-settings.ts'

/** What is known of the requests that were sent to create settings. */
export interface SentSettings {
  /** One of them was accepted. */
  readonly accepted: boolean
  /** One of them may have been applied: it was accepted, or went unanswered. */
  readonly mayBeApplied: boolean
}

/**
 * Judges whether settings were created, by the account-level settings read back (null: there are none). There is one setting for each
 * seller, and a second creation fails (specification, section 4): settings that say what was asked for are ours if a request of ours may
 * have been applied, and others keep ours out for good. The limit: settings with
 * the same content that someone else creates meanwhile count as ours; the goal is reached anyway.
 */
export const judgeSettings = (
  asked: AccountSettings,
  { accepted, mayBeApplied }: SentSettings,
  now: AccountSettings | null,
): Evidence => {
  if (now === null) return { verdict: 'not-applied', lines: [], explanation: 'there are no account-level settings' }
  const differences = settingsDifferences(asked, now)
  if (differences.length === 0) {
    if (mayBeApplied) return { verdict: 'applied', lines: [], explanation: 'the settings are there as asked for' }
    const explanation = 'the same settings exist already, and no request of ours can have created them'
    return { verdict: 'not-applied', lines: [], explanation, ruledOut: true }
  }
  const different = differences.slice(0, 10).join('; ')
  if (accepted)
    return { verdict: 'unclear', lines: [], explanation: `the settings are there, but not as asked for: ${different}` }
  return { verdict: 'not-applied', lines: [], explanation: `other settings exist already: ${different}`, ruledOut: true }
}
