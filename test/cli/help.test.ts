import { spawnSync } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { PassThrough } from 'node:stream'
import type { Command } from 'commander'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { completionScript, listCompletions, shells } from '../../src/cli/commands/completion.ts'
import { examples } from '../../src/cli/examples.ts'
import { buildProgram } from '../../src/cli/program.ts'
import { syncResources } from '../../src/jobs/sync/engine/syncs.ts'
import { cli } from './run.ts'

/** The command line, whose commands note that they were called and do nothing. */
const program = () => {
  const messages = new PassThrough()
  const called: string[] = []
  const nothing = () => Promise.resolve('')
  const becomeDaemon = () => void called.push('start')
  const io = {
    environment: {},
    out: messages,
    messages,
    readInput: nothing,
    readLine: nothing,
    isInteractive: false,
    becomeDaemon,
  }
  const built = buildProgram({ ...io, signal: new AbortController().signal }, (command) => {
    called.push(command.name())
    return Promise.resolve()
  })
  return { built, called }
}

const leaves = (command: Command, words: readonly string[] = []): readonly string[] =>
  command
    .createHelp()
    .visibleCommands(command)
    .flatMap((one) => {
      if (one.name() === 'help') return []
      const own = [...words, one.name()]
      return one.commands.length === 0 ? [own.join(' ')] : leaves(one, own)
    })

const describeError = (line: string): readonly string[] =>
  [...line.replace(/ [<>]+ .*$/, '').matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, word]) => quoted ?? word ?? '')

describe('help', () => {
  test('ends with an example for every command', () => {
    expect(Object.keys(examples).sort()).toEqual([...leaves(program().built)].sort())
  })

  test.each(Object.values(examples).flat())('the example "tallyman %s" is understood', async (line) => {
    const { built, called } = program()
    await built.parseAsync([...describeError(line)], { from: 'user' })
    if (!line.startsWith('completion')) expect(called).toHaveLength(1)
  })

  test('shows them', async () => {
    const { out } = await cli(['commands', 'retry', '--help'])
    expect(out).toContain('Examples:\n  tallyman commands retry ')
  })
})

describe('a reason that is not given', () => {
  test('is asked for at a terminal, and used', async () => {
    const asked = await cli(
      ['commands', 'reject', 'c-1'],
      { TALLYMAN_URL: 'http://127.0.0.1:1' },
      { isInteractive: true, input: 'lost' },
    )
    expect(asked.messages).toContain('Reason: ')
    expect(asked.messages).toContain('cannot be reached')
    expect(asked.code).toBe(1)
  })

  test('and not given there either, nothing is done', async () => {
    const { code, messages } = await cli(['sellers', 'pause', 's-1'], {}, { isInteractive: true, input: ' ' })
    expect(messages).toContain('a reason is required; nothing was done')
    expect(code).toBe(2)
  })
})

describe('completion', () => {
  test.each([
    [[''], ['doctor', 'sync', 'backfill', 'commands', 'completion']],
    [['comm'], ['commands']],
    [
      ['commands', ''],
      ['list', 'show', 'retry', 'confirm', 'reject', 'decide'],
    ],
    [['commands', 'list', '--state', 'he'], ['held']],
    [['commands', 'list', '--s'], ['--state']],
    [['sync', 'inv'], ['inventory-log']],
    [['sync', '--seller', 'A1', 'settl'], ['settlements']],
    [['completion', ''], shells],
  ])('%j', (words, expected) => {
    const found = listCompletions(program().built, words, syncResources)
    expect(found).toEqual(expect.arrayContaining([...expected]))
    const last = words.at(-1) ?? ''
    expect(found.filter((word) => !word.startsWith(last))).toEqual([])
  })

  test.each([[['nonsense', 'x', '']], [['commands', 'list', '--limit', '']], [['sync', 'orders', '']]])(
    'nothing for %j',
    (words) => {
      expect(listCompletions(program().built, words, syncResources).filter((word) => word !== 'completion')).not.toContain('held')
    },
  )

  test('its hidden command does not show in help', async () => {
    expect((await cli(['--help'])).out).not.toMatch(/^ +complete /m)
    expect((await cli(['complete', '--', 'quar'])).out).toBe('quarantine\n')
  })
})

const has = (shell: string): boolean => spawnSync(shell, ['-c', 'true']).status === 0

/** A script that makes a shell print its completions of `tallyman quarantine d`. */
const asks = {
  bash: (script: string) =>
    `source ${script}; COMP_WORDS=(tallyman quarantine d); COMP_CWORD=2; _tallyman; printf '%s\\n' "\${COMPREPLY[@]}"`,
  zsh: (script: string) =>
    `compdef() { : }; compadd() { print -l -- $found }; source ${script}; words=(tallyman quarantine d); CURRENT=3; _tallyman`,
  fish: (script: string) => `source ${script}; complete -C 'tallyman quarantine d'`,
}

describe('the shells', () => {
  let folder: string
  beforeAll(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'tallyman-shells-'))
    await writeFile(
      path.join(folder, 'tallyman'),
      `#!/bin/sh\nexec "${process.execPath}" "${path.resolve('src/cli.ts')}" "$@"\n`,
      { mode: 0o755 },
    )
    for (const shell of shells) await writeFile(path.join(folder, `script.${shell}`), completionScript(shell))
  })
  afterAll(() => rm(folder, { recursive: true, force: true }))

  test.each(shells.filter(has))('%s offers what fits', (shell) => {
    const script = path.join(folder, `script.${shell}`)
    const env = { PATH: `${folder}:${process.env['PATH']}`, HOME: folder }
    const flags = shell === 'zsh' ? ['-f', '-c'] : ['-c']
    const { stdout, stderr } = spawnSync(shell, [...flags, asks[shell](script)], { encoding: 'utf8', env })
    expect({ stdout: stdout.trim(), stderr }).toEqual({ stdout: 'dismiss', stderr: '' })
  })
})
