import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { documentedSettings, settingsPage } from '../scripts/pages/settings-page.ts'
import { readConfig } from '../src/config/config.ts'
import { environment, secrets } from '../src/config/environment.ts'
import { intervalEnvironment } from '../src/config/intervals.ts'

const variables = [...Object.keys(environment.shape), ...Object.keys(intervalEnvironment.shape)]

/** What stands in backticks in a cell. */
const formatCodes = (cell: string): readonly string[] => [...cell.matchAll(/`([^`]+)`/g)].map(([, text]) => text ?? '')

/** A cell of defaults: one for all, or one for each, with commas between them. */
const buildDefaults = (cell: string, count: number): readonly string[] => {
  const parts = cell.split(/, (?![^(]*\))/)
  return parts.length === count ? parts : Array.from({ length: count }, () => cell)
}

/** The settings of README.md with their defaults, by its table. */
const settingsOfReadme = (text: string): readonly (readonly [variable: string, fallback: string])[] => {
  const [, section = ''] = text.split('\n## Settings\n')
  const rows = section.split('\n## ')[0]?.match(/^\| `.*$/gm) ?? []
  return rows.flatMap((line) => {
    const [, names = '', fallback = ''] = line.split(/(?<!\\)\|/).map((cell) => cell.trim())
    const found = formatCodes(names)
    const defaults = buildDefaults(fallback, found.length)
    return found.map((name, index) => [name, defaults[index] ?? ''] as const)
  })
}

test('docs/settings.md is up to date (npm run settings-page)', () => {
  expect(readFileSync('docs/settings.md', 'utf8')).toBe(settingsPage())
})

test('every setting is documented once, with what it accepts and what it means, and every secret with its file', () => {
  expect(documentedSettings.map(({ variable }) => variable)).toEqual(variables)
  for (const { variable, accepts, meaning } of documentedSettings) {
    expect(accepts, variable).not.toBe('')
    expect(meaning, variable).not.toBe('')
  }
  for (const name of secrets) expect(settingsPage()).toMatch(new RegExp(`^\\| \`${name}\`, \`${name}_FILE\` \\|`, 'm'))
})

describe('the table of README.md', () => {
  test('has the ten settings of a new installation, with the defaults of the code', () => {
    const readme = readFileSync('README.md', 'utf8')
    const settings = settingsOfReadme(readme)
    const [, section = ''] = readme.split('\n## Settings\n')
    expect(section.split('\n## ')[0]?.match(/^\| `.*$/gm)).toHaveLength(10)
    expect(new Set(settings.map(([variable]) => variable)).size).toBe(settings.length)
    const defaults = new Map(documentedSettings.map((setting) => [setting.variable, setting.default]))
    expect(settings).toEqual(settings.map(([variable]) => [variable, defaults.get(variable)]))
  })

  test('is read with one default for several variables, or one for each', () => {
    const page =
      '\n## Settings\n| a | b | c |\n| `A`, `B` | `1`, `2` | x |\n| `C`, `D` | unset | `E` |\n| `F` | `j` (`p`, q) | y |\n\n## More\n| `G` | |'
    expect(settingsOfReadme(page)).toEqual([
      ['A', '`1`'],
      ['B', '`2`'],
      ['C', 'unset'],
      ['D', 'unset'],
      ['F', '`j` (`p`, q)'],
    ])
  })
})

test('the documented defaults are those that are in force where nothing is set', () => {
  const shown = readConfig({ DEMO: 'off' }, false).shown
  for (const setting of documentedSettings.filter(
    ({ default: fallback, variable }) => /^`[^`]+`$/.test(fallback) && variable !== 'DEMO',
  ))
    expect(
      shown.find(({ name }) => name === setting.variable),
      setting.variable,
    ).toMatchObject({ value: setting.default.slice(1, -1), from: 'default' })
})
