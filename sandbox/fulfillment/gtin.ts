/** The 14-digit GTIN of the n-th made-up item: a UPC with its check digit, padded with zeros (public facts, section 7.3). */
export const madeUpGtin = (number: number): string => {
  const body = `8${String((BigInt(number) * 7_919n) % 10_000_000_000n).padStart(10, '0')}`
  return `${body}${checkDigit(body)}`.padStart(14, '0')
}

/** The 12-digit UPC of a GTIN. */
export const toUpc = (gtin: string): string => gtin.slice(-12)

const checkDigit = (body: string): number => {
  let sum = 0
  for (const [index, digit] of [...body].entries()) sum += Number(digit) * (index % 2 === 0 ? 3 : 1)
  return (10 - (sum % 10)) % 10
}
