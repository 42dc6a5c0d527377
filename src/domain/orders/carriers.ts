const folded = (name: string): string => name.trim().replace(/\s+/g, ' ').toLowerCase()

/** The marketplace's spelling of a carrier, case-insensitive (`ups`); null if it is not in the list. */
export const publishedSpelling = (carriers: ReadonlySet<string>, carrier: string): string | null => {
  if (carriers.has(carrier)) return carrier
  const wanted = folded(carrier)
  for (const published of carriers) if (folded(published) === wanted) return published
  return null
}
