import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { configExitCode, readConfig } from '../../src/config/config.ts'
import { environment, secrets } from '../../src/config/environment.ts'
import { parseDurationMs } from '../../src/util/duration.ts'

const file = 'deploy/systemd/tallyman.service'

/** The directives of systemd that the unit may have, by section: a misspelt one would be ignored. */
const known: Readonly<Record<string, ReadonlySet<string>>> = {
  Unit: new Set(['Description', 'Documentation', 'Wants', 'After']),
  Service: new Set([
    ...['Type', 'WorkingDirectory', 'ExecStart', 'ExecReload', 'Environment', 'EnvironmentFile', 'LoadCredential', 'LimitNOFILE'],
    ...['Restart', 'RestartSec', 'RestartPreventExitStatus', 'KillSignal', 'KillMode', 'TimeoutStopSec', 'TimeoutStartSec'],
    ...[
      'CacheDirectory',
      'CacheDirectoryMode',
      'DynamicUser',
      'StateDirectory',
      'StateDirectoryMode',
      'UMask',
      'CapabilityBoundingSet',
      'NoNewPrivileges',
    ],
    ...[
      'LockPersonality',
      'PrivateDevices',
      'PrivateTmp',
      'ProtectClock',
      'ProtectControlGroups',
      'ProtectHome',
      'ProtectHostname',
    ],
    ...['ProtectKernelLogs', 'ProtectKernelModules', 'ProtectKernelTunables', 'ProtectProc', 'ProtectSystem', 'RemoveIPC'],
    ...['RestrictAddressFamilies', 'RestrictNamespaces', 'RestrictRealtime', 'RestrictSUIDSGID'],
    ...['SystemCallArchitectures', 'SystemCallFilter', 'SystemCallErrorNumber'],
  ]),
  Install: new Set(['WantedBy']),
}

interface Directive {
  readonly section: string
  readonly name: string
  readonly value: string
}

/** The directives of a unit, in their order. @throws at a line that is none */
const parseUnit = (text: string): readonly Directive[] => {
  let section = ''
  return text.split('\n').flatMap((line): Directive[] => {
    const header = /^\[(\w+)\]$/.exec(line)
    if (header !== null) section = header[1] ?? ''
    if (line === '' || line.startsWith('#') || header !== null) return []
    const [, name, value] = /^(\w+)=(.*)$/.exec(line) ?? []
    if (name === undefined || value === undefined) throw new Error(`no directive: ${line}`)
    return [{ section, name, value }]
  })
}

const unit = parseUnit(readFileSync(file, 'utf8'))
const all = (name: string): readonly string[] => unit.flatMap((one) => (one.name === name ? [one.value] : []))
const the = (name: string): string => {
  const [value, ...more] = all(name)
  if (value === undefined || more.length > 0) throw new Error(`${name} is not there once`)
  return value
}
const variables = Object.fromEntries(
  all('Environment')
    .flatMap((line) => line.split(' '))
    .map((pair) => [pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1)]),
)

describe(file, () => {
  let folder: string
  beforeAll(() => {
    folder = mkdtempSync(path.join(tmpdir(), 'tallyman-unit-'))
  })
  afterAll(() => rmSync(folder, { recursive: true, force: true }))

  test('has directives of systemd alone', () => {
    expect(unit.length).toBeGreaterThan(40)
    for (const { section, name } of unit) expect(known[section], `[${section}] ${name}`).toContain(name)
    expect(() => parseUnit('[Service]\nRestart on-failure')).toThrow('no directive')
  })

  test('starts the daemon as `npm start` does, and leaves it alone when its settings are invalid', () => {
    const [, started] = /^run (node_modules\/\.bin\/node .*src\/main\.ts)$/m.exec(readFileSync('scripts/start.sh', 'utf8')) ?? []
    expect(the('ExecStart')).toBe(`${the('WorkingDirectory')}/${started}`)
    expect([the('Restart'), the('RestartPreventExitStatus')]).toEqual(['on-failure', String(configExitCode)])
  })

  test('asks the daemon alone to stop, and gives it time to drain', () => {
    expect([the('KillSignal'), the('KillMode')]).toEqual(['SIGTERM', 'mixed'])
    const { drainTimeoutMs } = readConfig({}, false)
    expect(parseDurationMs(the('TimeoutStopSec')) ?? 0).toBeGreaterThanOrEqual(drainTimeoutMs + 10_000)
  })

  test('gives settings that there are, each secret by a credential that it loads', () => {
    const names = new Set([...Object.keys(environment.shape), ...secrets.map((name) => `${name}_FILE`)])
    // One is Node's own, in a folder that systemd makes.
    const { NODE_COMPILE_CACHE: compiled, ...ours } = variables
    expect(compiled).toBe(`%C/${the('CacheDirectory')}`)
    for (const name of Object.keys(ours)) expect(names).toContain(name)
    const credentials = all('LoadCredential').map((line) => line.split(':')[0])
    const used = Object.entries(variables).flatMap(([name, value]) => (name.endsWith('_FILE') ? [value] : []))
    expect(used.toSorted()).toEqual(credentials.map((name) => `%d/${name}`).toSorted())
    const contents: Record<string, string> = {
      'database-url': 'postgresql://tallyman@db.example/tallyman',
      'client-id': 'id',
      'client-secret': 'secret',
      'api-key': 'a-key-of-the-tests',
      'notifications-secret': 'marketplace:a-password-of-the-tests',
      'events-secret': `whsec_${Buffer.from('a secret of the tests').toString('base64')}`,
    }
    for (const [name, text] of Object.entries(contents)) writeFileSync(path.join(folder, name), text)
    const settings = Object.entries(variables).map(([name, value]) => [name, value.replace('%d', folder).replace('%S', folder)])
    const given = { MARKETPLACE_URL: 'https://marketplace.example', SELLER_ID: 'acme', HOST: '0.0.0.0' }
    expect(readConfig({ ...Object.fromEntries(settings), ...given }, false)).toMatchObject({
      databaseUrl: contents['database-url'],
      dataDir: path.join(folder, the('StateDirectory')),
    })
  })

  test('is sound to systemd itself, and exposes little, where it is installed', ({ skip }) => {
    const [, version = '0'] =
      /^systemd (\d+)/.exec(spawnSync('systemd-analyze', ['--version'], { encoding: 'utf8' }).stdout ?? '') ?? []
    if (Number(version) < 250) return skip('systemd 250 is not installed')
    // The program of the unit must be there.
    const copy = path.join(folder, 'tallyman.service')
    writeFileSync(copy, readFileSync(file, 'utf8').replaceAll('/opt/tallyman', process.cwd()))
    const verified = spawnSync('systemd-analyze', ['verify', '--man=no', copy], { encoding: 'utf8' })
    expect([verified.status, verified.stderr]).toEqual([0, ''])
    // In tenths, of 10: 2.0 counts as OK.
    const security = spawnSync('systemd-analyze', ['security', '--offline=yes', '--threshold=20', copy], { encoding: 'utf8' })
    expect(security.status, security.stdout.slice(-200) + security.stderr).toBe(0)
  })
})
