/** Whether a text is the IANA name of a time zone. */
export const isTimeZone = (name: string): boolean => {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone !== ''
  } catch {
    // The only error is a RangeError for an unknown name.
    return false
  }
}
