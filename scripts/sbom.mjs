// Prints the components of production, as CycloneDX 1.5, from `package-lock.json` and `node_modules` only: `npm run --silent sbom > sbom.json`.
// The same packages make the same text: the time and the random number that npm puts in are left out, so that two of them can be compared.
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const read = (file) => JSON.parse(readFileSync(new URL(`../${file}`, import.meta.url), 'utf8'))
const { name, version } = read('package.json')

const asked = ['sbom', '--sbom-format', 'cyclonedx', '--sbom-type', 'application', '--offline']
const { status, stdout, stderr, error } = spawnSync('npm', asked, { cwd: root, encoding: 'utf8', maxBuffer: 64 * 1_048_576 })
if (error || status !== 0) {
  console.error(`npm ${asked.join(' ')} failed: ${error?.message ?? stderr}`)
  process.exit(1)
}
const { serialNumber: _random, metadata, ...rest } = JSON.parse(stdout)
const { timestamp: _time, component, ...stable } = metadata

// The lock file says which packages are for production. npm's own `--omit dev` leaves out packages of production that are development packages of other packages as well.
const ofProduction = new Set(
  Object.entries(read('package-lock.json').packages)
    .filter(([place, { dev }]) => place !== '' && dev !== true)
    .map(([place, locked]) => `${place.slice(place.lastIndexOf('node_modules/') + 'node_modules/'.length)}@${locked.version}`),
)
const components = rest.components.filter((each) => ofProduction.has(`${each.name}@${each.version}`))
const kept = new Set([component['bom-ref'], ...components.map((each) => each['bom-ref'])])
const dependencies = rest.dependencies
  .filter(({ ref }) => kept.has(ref))
  .map(({ ref, dependsOn = [] }) => ({ ref, dependsOn: dependsOn.filter((other) => kept.has(other)) }))

// npm calls the project by the name of its folder.
const content = { ...rest, metadata: { ...stable, component: { ...component, name, version } }, components, dependencies }
const hash = createHash('sha256').update(JSON.stringify(content)).digest('hex')
const serial = [hash.slice(0, 8), hash.slice(8, 12), `8${hash.slice(13, 16)}`, `8${hash.slice(17, 20)}`, hash.slice(20, 32)].join(
  '-',
)
console.log(JSON.stringify({ ...content, serialNumber: `urn:uuid:${serial}` }, null, 2))
