/** Money is a whole number of cents inside the sandbox; every amount that leaves or enters has at most two decimals. */
export type Cents = number

/** The decimal text of an amount, without needless zeros: 1230 -> `12.3`, -5 -> `-0.05`. */
export const decimalText = (cents: Cents): string => {
  const sign = cents < 0 ? '-' : ''
  const digits = String(Math.abs(cents)).padStart(3, '0')
  const fraction = digits.slice(-2).replace(/0+$/, '')
  return `${sign}${digits.slice(0, -2)}${fraction === '' ? '' : `.${fraction}`}`
}

/** The JSON number of an amount: read from its decimal text, so it prints back as exactly that text. */
export const jsonAmount = (cents: Cents): number => Number(decimalText(cents))

/** Cents of a JSON number or decimal text; `null` for anything else, for more than two decimals and beyond a trillion. */
export const parseCents = (value: unknown): Cents | null => {
  const text = typeof value === 'number' || typeof value === 'string' ? String(value) : ''
  const match = /^(-?)(\d{1,12})(?:\.(\d{1,2})0*)?$/.exec(text)
  if (match === null) return null
  const cents = Number(`${match[2]}${(match[3] ?? '').padEnd(2, '0')}`)
  return match[1] === '-' && cents !== 0 ? -cents : cents
}

/** The share of `part` out of `whole` units of an amount for all units, rounded half up; `share(total, n, n) === total`. */
export const computeShare = (total: Cents, part: number, whole: number): Cents =>
  whole === 0 ? 0 : Math.floor((2 * total * part + whole) / (2 * whole))
