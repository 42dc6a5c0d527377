import { readFileSync } from 'node:fs'
import { z } from 'zod'

const read = (file: string): unknown => JSON.parse(readFileSync(new URL(file, import.meta.url), 'utf8'))

/** Version of this program, from package.json. */
export const { version } = z.object({ version: z.string() }).parse(read('../../package.json'))

/** Commit of this release, which git writes into the archive (.gitattributes); null if this is not an archive of a commit. */
export const commit = z
  .object({ commit: z.string() })
  .transform((release) => (/^[0-9a-f]{40,64}$/.test(release.commit) ? release.commit : null))
  .parse(read('./release.json'))
