/** Digits after the point of a currency that is not known. */
const usualDigits = 2

/** Digits after the point of the smallest unit of a currency (ISO 4217); 2 for an unknown one. */
export const countMinorDigits = (currency: string | null): number =>
  currency === null || !/^[A-Z]{3}$/.test(currency)
    ? usualDigits
    : (new Intl.NumberFormat('en', { style: 'currency', currency }).resolvedOptions().maximumFractionDigits ?? usualDigits)

/** The digits after the point of a decimal text. Zeros at the end do not count. */
export const countDecimals = (amount: string): number => amount.split('.')[1]?.replace(/0+$/, '').length ?? 0

/** Decimal text with at least the digits of the currency, such as `41.50`. Further digits stay. */
export const padAmount = (amount: string, currency: string | null): string => {
  const [whole = '', decimals = ''] = amount.split('.')
  const padded = decimals.padEnd(countMinorDigits(currency), '0')
  return padded === '' ? whole : `${whole}.${padded}`
}

/** An amount with its currency, such as `41.50 USD`; without one if it is not known. */
export const formatAmount = (amount: string, currency: string | null): string =>
  `${padAmount(amount, currency)} ${currency ?? ''}`.trimEnd()
