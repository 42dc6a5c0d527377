const folded = (name: string): string => name.trim().replace(/\s+/g, ' ').toLowerCase()

/** The marketplace's own spelling of a carrier, however it was written (`ups`); null when the list does not hold it. */
export function publishedSpelling(carriers: ReadonlySet<string>, carrier: string): string | null {
  if (carriers.has(carrier)) return carrier
  const wanted = folded(carrier)
  for (const published of carriers) if (folded(published) === wanted) return published
  return null
}
