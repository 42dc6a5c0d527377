import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { InvalidConfig, readConfig } from '../src/config/config.ts'
import { listSharedAccountWarnings } from '../src/config/shared-accounts.ts'
import { configFaults } from './support/config-faults.ts'

const marketplace = { MARKETPLACE_URL: 'https://m.example' }

/** A folder with a sellers file in it, and whatever else stands there. */
const withFiles = (files: Readonly<Record<string, string | Buffer>>): string => {
  const folder = mkdtempSync(path.join(tmpdir(), 'tallyman-sellers-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  for (const [name, content] of Object.entries(files)) writeFileSync(path.join(folder, name), content)
  return path.join(folder, 's.yaml')
}

/** The faults of a sellers file, from its line on. */
const listFaults = (
  text: string | Buffer,
  { files = {}, ...variables }: { readonly files?: Readonly<Record<string, string>> } & Readonly<Record<string, unknown>> = {},
): readonly string[] => {
  const file = withFiles({ ...files, 's.yaml': text })
  const faults = configFaults({ ...marketplace, ...(variables as Record<string, string>), SELLERS_FILE: file })
  return faults.map((fault) => fault.replace(/^SELLERS_FILE: \S+\/s\.yaml:? /, ''))
}
const entry = (members: Readonly<Record<string, unknown>>): Record<string, unknown> => ({
  sellerId: 'a',
  clientId: 'c',
  clientSecret: 's',
  ...members,
})
const sellers = (...entries: readonly Readonly<Record<string, unknown>>[]): string => JSON.stringify(entries.map(entry), null, 1)

test.each([
  [
    'an alias that names nothing',
    'sellers:\n - sellerId: a\n   clientSecret: *hunter2\n',
    'line 3, column 18: an alias is undefined',
  ],
  ['an alias of a merge', 'sellers:\n - <<: *hunter2\n', 'line 2, column 8: an alias is undefined'],
  ['a tag', '- sellerId: a\n  clientSecret: !hunter2 x\n', 'line 2, column 17: a tag is unknown'],
  ['a wrong value of a tag', '- {clientSecret: !!timestamp hunter2}', 'line 1, column 18: a tag is unknown, or its value'],
  ['an open quote', '- sellerId: a\n  clientSecret: "hunter2\n', 'line 3, column 1: a quote, a bracket'],
  ['an escape', '- {clientSecret: "hunter2\\q"}', 'line 1, column 26: an escape in double quotes'],
  ['a colon', '- sellerId: a\n  clientSecret: hunter2: x\n', 'line 2, column 17: a member is in the line'],
  ['a reserved character', '- {clientSecret: @hunter2}', 'line 1, column 18: a value begins with a reserved character'],
  ['a member twice', '- clientSecret: hunter2\n  clientSecret: hunter2\n', 'line 2, column 3: a member appears twice'],
  ['a key that is none', '- ? [hunter2]\n  : x\n', 'line 1, column 5: the name of a member is not a text'],
  [
    'aliases without end',
    `- &a [${'x,'.repeat(99)}]\n- &b [${'*a,'.repeat(99)}]\n- &c [${'*b,'.repeat(99)}]\n- [1,\n *c]\n- [*c]`,
    'line 5, column 2: its aliases expand to more than 1,000,000 values',
  ],
  [
    'an alias that leads back to itself',
    '- &hunter2\n  skus: [a,\n    *hunter2]\n',
    'line 3, column 5: an alias refers to itself',
  ],
  ['lists in lists', `-\n ${'['.repeat(99)}${']'.repeat(99)}\n`, 'line 2, column 52: it is nested more than 50 levels deep'],
  ['no space after the colon', '- {sellerId: a, clientSecret:hunter2}', 'line 1: sellers[0] has a member whose name is unknown'],
  ['no name', '- {sellerId: a, clientSecret: {hunter2}}', 'line 1: sellers[0].clientSecret is wrong'],
])('of YAML with %s the fault says where and what, and never what stands there', (_what, text, expected) => {
  const faults = listFaults(text)
  expect(faults.join('\n')).toContain(expected)
  expect(faults.join('\n')).not.toContain('hunter2')
})

test('thousands of sellers may share what stands once, and a fault of one of them is reported with its line', () => {
  const many = 5_000
  const shared = (id: number): string =>
    id === 0
      ? 'rateLimits: &limits {orders.ship: {tokens: 3, per: 1m}}\n  skus: &skus [A, B]'
      : 'rateLimits: *limits\n  skus: *skus'
  const entries = Array.from(
    { length: many },
    (_, id) => `- sellerId: s${id}\n  clientId: c\n  clientSecret: s\n  ${shared(id)}\n`,
  )
  const read = readConfig({ ...marketplace, SELLERS_FILE: withFiles({ 's.yaml': entries.join('') }) }, false).sellers
  expect(read).toHaveLength(many)
  expect(read.at(-1)).toMatchObject({ skus: ['A', 'B'], rateLimits: read[0]?.rateLimits })
  expect(listFaults(`${entries.join('')}- sellerId: one\n  clientId: c\n  clientSecret: s\n  campaignIds: *limits\n`)).toEqual([
    expect.stringMatching(/^line 25004: sellers\[5000\]\.campaignIds is wrong/),
  ])
})

test('the parser says nothing to the process either', () => {
  const warned: unknown[] = []
  const hear = (warning: unknown): void => void warned.push(warning)
  process.on('warning', hear)
  onTestFinished(() => void process.off('warning', hear))
  listFaults('- ? {hunter2: x}\n  : y\n- clientSecret: !hunter2 z\n')
  expect(warned).toEqual([])
})

test.each([
  ['a control character', 'a\u0000b'],
  ['a line break', 'a\nb'],
  ['half of a pair', 'a\ud800'],
  ['white space before it', ' a'],
  ['white space behind it', 'a\u2003'],
  ['more characters than an index holds', 'x'.repeat(201)],
  ['nothing', ''],
])('an id with %s is refused, with its place', (_what, sellerId) => {
  expect(listFaults(sellers({}, { sellerId }))).toEqual([
    expect.stringMatching(/^line 8: sellers\[1\]\.sellerId is wrong: is not the id of a seller; accepted: up to 200 characters/),
  ])
  const single = { ...marketplace, SELLER_ID: sellerId, CLIENT_ID: 'c', CLIENT_SECRET: 's' }
  expect(() => readConfig(single, false)).toThrow(InvalidConfig)
})

test('an id may have any other character, and any that is refused of a seller is refused of its SKUs and campaigns', () => {
  expect(listFaults(sellers({ sellerId: 'Käufer & Söhne 😀/~%:', skus: ['a b/1'] }))).toEqual([])
  expect(listFaults(sellers({ skus: ['a', 'b\u0000'], campaignIds: ['x'.repeat(3_000)] }))).toEqual([
    expect.stringMatching(/^line \d+: sellers\[0\]\.campaignIds\[0\] is wrong: is not an id/),
    expect.stringMatching(/^line \d+: sellers\[0\]\.skus\[1\] is wrong: is not an id/),
  ])
})

test('a credential stands in the entry, in a file or in a variable', () => {
  const file = withFiles({
    'id.txt': 'of a file\n',
    's.yaml': JSON.stringify([
      { sellerId: 'a', clientIdEnv: 'ID_OF_A', clientSecretEnv: 'SECRET_OF_A' },
      { sellerId: 'b', clientIdFile: 'id.txt', clientSecret: 'plain' },
    ]),
  })
  const source = { ...marketplace, SELLERS_FILE: file, ID_OF_A: 'id', SECRET_OF_A: ' secret\n' }
  expect(readConfig(source, false).sellers.map(({ clientId, clientSecret }) => [clientId, clientSecret])).toEqual([
    ['id', 'secret'],
    ['of a file', 'plain'],
  ])
})

test('a refresh token may stand in an entry, in a file or in a variable, or be absent', () => {
  const file = withFiles({
    token: 'rt-of-a-file\n',
    's.yaml': sellers(
      { refreshToken: 'rt-plain', partnerId: '10002' },
      { sellerId: 'b', refreshTokenFile: 'token' },
      { sellerId: 'c', refreshTokenEnv: 'TOKEN_OF_C' },
      { sellerId: 'd' },
    ),
  })
  const read = readConfig({ ...marketplace, SELLERS_FILE: file, TOKEN_OF_C: 'rt-of-a-variable' }, false).sellers
  expect(read.map(({ refreshToken, partnerId }) => [refreshToken, partnerId])).toEqual([
    ['rt-plain', '10002'],
    ['rt-of-a-file', null],
    ['rt-of-a-variable', null],
    [null, null],
  ])
})

test('a refresh token that is given twice, is empty or has no partner id for a header is a fault with its place', () => {
  expect(listFaults(sellers({ refreshToken: 'hunter2', refreshTokenEnv: 'HUNTER' }))).toEqual([
    'line 7: sellers[0].refreshTokenEnv is set beside refreshToken; accepted: one of refreshToken, refreshTokenFile, refreshTokenEnv',
  ])
  expect(listFaults(sellers({ refreshTokenEnv: 'UNSET' }))).toEqual([
    expect.stringMatching(/^line \d: sellers\[0\]\.refreshTokenEnv names a variable that is unset or empty/),
  ])
  expect(listFaults(sellers({ sellerId: 'K\u{1F600}', refreshToken: 'hunter2' }))).toEqual([
    expect.stringMatching(
      /^line \d: sellers\[0\]\.partnerId is missing while the id of the seller cannot be the value of a header/,
    ),
  ])
  expect(listFaults(sellers({ sellerId: 'K\u{1F600}', refreshToken: 'r', partnerId: '10002' }))).toEqual([])
  expect(listFaults(sellers({}), { REFRESH_TOKEN: 'hunter2', PARTNER_ID: '10002' })).toEqual([
    'REFRESH_TOKEN: is set beside SELLERS_FILE; accepted: one of the two',
    'PARTNER_ID: is set beside SELLERS_FILE; accepted: one of the two',
  ])
})

test.each(['clientId', 'clientSecret'])('%s that is missing, empty or given twice is a fault with its place', (credential) => {
  const accepted = `accepted: one of ${credential}, ${credential}File, ${credential}Env`
  const findFault = (members: Readonly<Record<string, string>>): readonly string[] =>
    listFaults(sellers({}, { sellerId: 'b', [credential]: undefined, ...members }), { files: { empty: ' \n' }, HUNTER: ' ' })
  expect(findFault({})).toEqual([`line 7: sellers[1].${credential} is missing; ${accepted}`])
  expect(findFault({ [credential]: ' ' })).toEqual([expect.stringMatching(`^line \\d+: sellers\\[1\\].${credential} is wrong`)])
  for (const [value, other] of [
    ['hunter2', 'File'],
    ['hunter2', 'Env'],
  ] as const)
    expect(findFault({ [credential]: value, [`${credential}${other}`]: 'HUNTER' })).toEqual([
      expect.stringMatching(`^line 1\\d: sellers\\[1\\].${credential}${other} is set beside ${credential}; ${accepted}$`),
    ])
  expect(findFault({ [`${credential}File`]: 'empty' })).toEqual([
    expect.stringMatching(`^line 1\\d: sellers\\[1\\].${credential}File names an empty file`),
  ])
  expect(findFault({ [`${credential}File`]: 'nowhere' })).toEqual([
    expect.stringMatching(`^line 1\\d: sellers\\[1\\].${credential}File cannot be read`),
  ])
  for (const name of ['HUNTER', 'UNSET_HUNTER'])
    expect(findFault({ [`${credential}Env`]: name })).toEqual([
      expect.stringMatching(`^line 1\\d: sellers\\[1\\].${credential}Env names a variable that is unset or empty`),
    ])
  // A secret that was put there by mistake.
  expect(findFault({ [`${credential}Env`]: 'hunter2' }).join()).not.toContain('hunter2')
  expect(findFault({ [`${credential}File`]: 'hunter2' }).join()).not.toContain('hunter2')
  expect(findFault({ [`${credential}Env`]: 'hunter 2' })).toEqual([
    expect.stringMatching(`sellers\\[1\\].${credential}Env is wrong: is not the name of a variable`),
  ])
})

test('a mark of UTF-8 in front is skipped, another encoding is a fault, and so is an id that no address can hold', () => {
  const list = '- {sellerId: a, clientId: c, clientSecret: s}\n'
  expect(listFaults(`\uFEFF${list}`)).toEqual([])
  expect(listFaults(`\uFEFF${sellers({})}`)).toEqual([])
  expect(listFaults(Buffer.from(list.replace('s}', 'm\u00fcller}'), 'latin1'))).toEqual([
    'cannot be read as JSON or YAML: it is not in UTF-8',
  ])
  for (const sellerId of ['.', '..'])
    expect(listFaults(sellers({ sellerId }))).toEqual([expect.stringMatching(/^line 3: sellers\[0\].sellerId is wrong/)])
})

test('a seller twice and an address that is missing are faults with their places', () => {
  const faults = listFaults(sellers({ marketplaceUrl: 'https://m.example' }, {}), { MARKETPLACE_URL: '' })
  expect(faults).toEqual([
    'line 9: sellers[1].sellerId appears twice, first in sellers[0]; accepted: each seller once',
    expect.stringMatching(/^line 8: sellers\[1\]\.marketplaceUrl is missing while MARKETPLACE_URL is unset/),
  ])
})

const named = '- sellerId: a\n  clientId: c\n  clientSecret: s\n'

test.each([
  [
    'a member of the document',
    `seller:\n${named}`,
    /^line 1: seller is unknown \(did you mean sellers\?\); accepted: sellers, each with sellerId/,
  ],
  ['a list', `sellers:\n${named}  campaignIds:\n    1: x\n`, /^line 5: sellers\[0\]\.campaignIds is wrong/],
  [
    'an operation',
    `${named}  rateLimits:\n    orders.shop:\n      tokens: 30\n      per: 1m\n`,
    /^line 5: sellers\[0\]\.rateLimits\.orders\.shop is wrong: there is no operation orders\.shop \(did you mean orders\.ship\?\)/,
  ],
  [
    'a limit without its tokens',
    `${named}  rateLimits:\n    orders.cancel: {tokens: 3, per: 1m}\n    orders.ship:\n      per: 1m\n`,
    /^line 6: sellers\[0\]\.rateLimits\.orders\.ship\.tokens is missing; accepted: operation -> /,
  ],
  [
    'a member of a limit',
    `${named}  rateLimits:\n    orders.ship:\n      tokens: 3\n      per: 1m\n      token:\n        3\n`,
    /^line 8: sellers\[0\]\.rateLimits\.orders\.ship\.token is unknown \(did you mean tokens\?\); accepted: operation -> /,
  ],
])('a fault names the line of the name, though what it is about begins below: %s', (_what, text, fault) => {
  expect(listFaults(text)).toContainEqual(expect.stringMatching(fault))
})

test('an operation that there is not is answered with the names of those that there are', () => {
  const rateLimits = { 'orders.shop': { tokens: 30, per: '1m' } }
  expect(listFaults(sellers({ rateLimits }))).toEqual([
    expect.stringMatching(
      /^line 7: sellers\[0\]\.rateLimits\.orders\.shop is wrong: there is no operation orders\.shop \(did you mean orders\.ship\?\); accepted: .*; operations: .*orders\.cancel, /,
    ),
  ])
})

test.each(['CLIENT_SECRET', 'API_KEY'])('a %s_FILE that is no path is a fault that does not repeat it', (name) => {
  const others = { ...marketplace, SELLER_ID: 'a', CLIENT_ID: 'c', ...(name === 'API_KEY' ? { CLIENT_SECRET: 's' } : {}) }
  const read = (): string => configFaults({ ...others, [`${name}_FILE`]: 'hunter2' }).join()
  expect(read()).toMatch(new RegExp(`^${name}_FILE: the file cannot be read: there is no such file \\(ENOENT\\); accepted`))
  expect(read()).not.toContain('hunter2')
})

test.each(['CLIENT_SECRET', 'CLIENT_ID', 'API_KEY'])('an empty %s_FILE is a fault', (name) => {
  const file = path.join(path.dirname(withFiles({ empty: '\n' })), 'empty')
  const single = { ...marketplace, SELLER_ID: 'a', CLIENT_ID: 'c', CLIENT_SECRET: 's' }
  const { [name as 'CLIENT_ID']: _given, ...others } = single
  expect(() => readConfig({ ...others, [`${name}_FILE`]: file }, false)).toThrow(new RegExp(`^${name}: `))
})

test('sellers that share an account at one marketplace are named in a warning', () => {
  const at = (sellerId: string, clientId: string, marketplaceUrl: string | null = 'https://one.example') => ({
    sellerId,
    clientId,
    marketplaceUrl,
    refreshToken: null,
    partnerId: null,
  })
  expect(
    listSharedAccountWarnings([at('a', 'c1'), at('b', 'c2'), at('c', 'c1', 'https://two.example'), at('d', 'c1', null)]),
  ).toEqual([])
  const many = Array.from({ length: 7 }, (_, index) => at(`copy-${index}`, 'c3'))
  expect(listSharedAccountWarnings([at('a', 'c1'), at('b', 'c2'), at('twin', 'c1'), ...many])).toEqual([
    expect.stringMatching(/^sellers a, twin have the same client id at the same marketplace: /),
    expect.stringMatching(/^sellers copy-0, copy-1, copy-2, copy-3, copy-4 and 2 more have /),
  ])
  const connected = (sellerId: string, partnerId: string | null) => ({ ...at(sellerId, 'app'), refreshToken: 'r', partnerId })
  expect(listSharedAccountWarnings([connected('a', null), connected('b', '10002'), connected('c', '10003')])).toEqual([])
  expect(listSharedAccountWarnings([connected('a', '10002'), connected('b', '10002')])).toHaveLength(1)
})

describe('a file that is no regular one is refused at once, and the fault says what it is', () => {
  const pipe = /it is a pipe, as process substitution makes one; use a regular file/
  const made = (): string => {
    const folder = path.dirname(withFiles({ regular: 'of a file\n', latin1: Buffer.from([0x6d, 0xfc, 0x6c, 0x6c, 0x65, 0x72]) }))
    execFileSync('mkfifo', [path.join(folder, 'pipe')])
    symlinkSync('pipe', path.join(folder, 'link-to-pipe'))
    symlinkSync('regular', path.join(folder, 'link'))
    symlinkSync('circle', path.join(folder, 'circle'))
    writeFileSync(path.join(folder, 'large'), '')
    truncateSync(path.join(folder, 'large'), 16 * 2 ** 20 + 1)
    return folder
  }
  const kinds = [
    ['pipe', pipe],
    ['link-to-pipe', pipe],
    ['/dev/null', /it is a device; use a regular file/],
    ['.', /it is a directory/],
    ['large', /it has more than 16 MiB/],
    ['circle', /its symbolic links lead in a circle \(ELOOP\)/],
    ['nowhere', /there is no such file \(ENOENT\)/],
  ] as const
  test.each(kinds)('SELLERS_FILE: %s', (name, why) => {
    const file = path.resolve(made(), name)
    const [fault, ...others] = configFaults({ ...marketplace, SELLERS_FILE: file })
    expect(others).toEqual([])
    expect(fault).toContain(`SELLERS_FILE: ${file} cannot be read as JSON or YAML: `)
    expect(fault).toMatch(why)
  })

  test.each([...kinds, ['latin1', /it is not in UTF-8/] as const])('a credential: %s', (name, why) => {
    const folder = made()
    writeFileSync(
      path.join(folder, 's.yaml'),
      `sellers:\n- {sellerId: a, clientId: c, clientSecret: s}\n- sellerId: b\n  clientId: c\n  clientSecretFile: ${name}\n`,
    )
    const [fault, ...others] = configFaults({ ...marketplace, SELLERS_FILE: path.join(folder, 's.yaml') })
    expect(others).toEqual([])
    expect(fault).toContain(': line 5: sellers[1].clientSecretFile cannot be read: ')
    expect(fault).toMatch(why)
    const single = { ...marketplace, SELLER_ID: 'a', CLIENT_ID: 'c', CLIENT_SECRET_FILE: path.resolve(folder, name) }
    expect(configFaults(single).join('\n')).toMatch(/^CLIENT_SECRET_FILE: the file cannot be read: /)
    expect(configFaults(single).join('\n')).toMatch(why)
  })

  test.each(kinds)('a certificate: %s', (name, why) => {
    const faults = configFaults({ REDIS_URL: 'rediss://one', REDIS_CA_FILE: path.resolve(made(), name) })
    expect(faults).toEqual([expect.stringMatching(/^REDIS_CA_FILE: is not the path of a readable file with a certificate/)])
    expect(faults[0]).toMatch(why)
  })

  test('a link to a regular file is followed', () => {
    const source = { ...marketplace, SELLER_ID: 'a', CLIENT_ID: 'c', CLIENT_SECRET_FILE: path.join(made(), 'link') }
    expect(readConfig(source, false).sellers[0]?.clientSecret).toBe('of a file')
  })
})
