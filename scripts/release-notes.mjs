// The changelog of a release. `release.mjs` writes it.

const heading = '## Unreleased\n'

/** The entries of a section that begin with "Changed: ", each with its further lines, without that word. */
const listChanged = (section) =>
  [...section.matchAll(/^- Changed: (.*(?:\n {2}.*)*)/gm)].map(([, text]) => `- ${text.charAt(0).toUpperCase()}${text.slice(1)}`)

/**
 * The changelog with what is unreleased as the section of a version, which begins with what an upgrade needs: the migrations, and every change of
 * something that existed. `previous` null: there is no release to upgrade from. Null: nothing is unreleased.
 */
export const closeChangelog = (changelog, { version, previous, migrations, today }) => {
  const from = changelog.indexOf(heading)
  if (from === -1) return null
  const begin = from + heading.length
  const next = changelog.indexOf('\n## ', begin)
  const section = changelog.slice(begin, next === -1 ? changelog.length : next + 1).trim()
  if (section === '') return null
  const migrate =
    migrations === 0
      ? '- No migration.'
      : `- ${migrations} ${migrations === 1 ? 'migration' : 'migrations'}: make a backup, then see [upgrading](docs/deployment.md#upgrading).`
  const notes = previous === null ? '' : `### Upgrading from ${previous}\n${[migrate, ...listChanged(section)].join('\n')}\n\n`
  const rest = next === -1 ? '' : `\n${changelog.slice(next + 1)}`
  return `${changelog.slice(0, begin)}\n## ${version} (${today})\n\n${notes}${section}\n${rest}`
}
