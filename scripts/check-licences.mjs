// Checks that every package of production has a licence that this project may ship with. Read from `node_modules`, and for the platforms that
// are not this one from `package-lock.json`; nothing is asked of a registry. Plain JavaScript, since it runs on the machine's own Node.
// Usage: node scripts/check-licences.mjs [folder]
import { existsSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'

const root = path.resolve(process.argv[2] ?? fileURLToPath(new URL('..', import.meta.url)))

/** Licences that ask for no more than that they are passed on with the package. */
const allowed = new Set(
  ['0BSD', 'Apache-2.0', 'BlueOak-1.0.0', 'BSD-2-Clause', 'BSD-3-Clause', 'CC0-1.0', 'ISC', 'MIT', 'MIT-0', 'Unlicense'].map(
    (name) => name.toLowerCase(),
  ),
)

/** Packages that say otherwise, or nothing, and why they may stay; each is judged by hand and for one version. */
const judged = new Map([
  ['elkjs@0.11.1', 'EPL-2.0: shipped as it is, by the studio of `prisma`, which nothing of ours loads'],
  ['seq-queue@0.0.5', 'its file LICENSE is that of MIT'],
])

/** Whether an SPDX expression can be kept by keeping allowed licences alone. `AND` binds before `OR`, in either case of letters. */
const isAllowed = (expression) => {
  let whole = true
  const words = expression.replace(/[()]/g, ' $& ').split(/\s+/).filter(Boolean)
  const choice = () => {
    let good = both()
    while (words[0]?.toLowerCase() === 'or') {
      words.shift()
      const other = both()
      good ||= other
    }
    return good
  }
  const both = () => {
    let good = one()
    while (words[0]?.toLowerCase() === 'and') {
      words.shift()
      const other = one()
      good &&= other
    }
    return good
  }
  const one = () => {
    const word = words.shift()
    if (word !== '(') {
      whole &&= word !== undefined
      return word !== undefined && allowed.has(word.toLowerCase())
    }
    const good = choice()
    whole &&= words.shift() === ')'
    return good
  }
  return choice() && whole && words.length === 0
}

const read = (file) => JSON.parse(readFileSync(path.join(root, file), 'utf8'))

/** Old packages have an object, or a list of them. */
const findLicence = ({ license, licenses }) => {
  const found = [license ?? licenses ?? []].flat().map((one) => (typeof one === 'string' ? one : one?.type))
  return found.every((one) => typeof one === 'string') ? found.join(' OR ') : ''
}

const faults = []
const unused = new Set(judged.keys())
let looked = 0
for (const [place, locked] of Object.entries(read('package-lock.json').packages)) {
  if (place === '' || locked.dev === true || locked.link === true) continue
  const manifest = path.join(place, 'package.json')
  const installed = existsSync(path.join(root, manifest))
  if (!installed && locked.optional !== true && locked.peer !== true && locked.devOptional !== true) {
    faults.push(`${place} is not installed; run npm ci`)
    continue
  }
  looked += 1
  const licence = findLicence(installed ? read(manifest) : locked)
  const name = `${place.slice(place.lastIndexOf('node_modules/') + 'node_modules/'.length)}@${locked.version}`
  if (isAllowed(licence)) continue
  if (judged.has(name)) unused.delete(name)
  else faults.push(`${name}: ${licence === '' ? 'names no licence' : `${licence} is not among the allowed licences`}`)
}
if (process.argv[2] === undefined) for (const name of unused) faults.push(`${name} was judged by hand and is no longer there`)

for (const fault of faults) console.error(fault)
console.log(`${looked} packages of production, ${faults.length} faults`)
process.exitCode = faults.length === 0 ? 0 : 1
