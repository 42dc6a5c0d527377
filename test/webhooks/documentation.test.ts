import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { retryDelaysMs } from '../../src/jobs/webhooks/schedule.ts'
import { withDatabase } from '../support/database.ts'
import { addEndpoint, createSender, secret, tell } from './rig.ts'

const stage = withDatabase()
const page = readFileSync('docs/webhooks.md', 'utf8')

test('the receiver of the page runs as it is written, takes each message once and refuses a wrong signature', async () => {
  const [, source = ''] = /```js\n([\s\S]*?)```/.exec(page) ?? []
  expect(source).toContain('standardwebhooks')
  // As a module on standard input, which finds its packages from the folder that it is started in.
  const program = spawn(process.execPath, ['--input-type=module'], {
    stdio: ['pipe', 'pipe', 'inherit'],
    env: { PATH: process.env['PATH'] ?? '', PORT: '0', WEBHOOK_SECRET: secret },
  })
  let said = ''
  program.stdout.setEncoding('utf8').on('data', (text: string) => {
    said += text
  })
  program.stdin.end(source)
  const sender = createSender(stage.database)
  try {
    await expect.poll(() => /listening on (\d+)/.exec(said)?.[1]).toBeDefined()
    const url = `http://127.0.0.1:${/listening on (\d+)/.exec(said)?.[1]}/hooks`
    await addEndpoint(stage.database, url)
    await addEndpoint(stage.database, url, {
      id: 'wh_2',
      secret: `whsec_${Buffer.from('of somebody else, who is not us').toString('base64')}`,
    })
    await tell(stage.database, [['order.seen', '1796277083022']])
    await sender.run()
    expect(sender.outcomes.toSorted()).toEqual(['delivered', 'retried'])
    await expect.poll(() => said).toContain('order.seen 1796277083022')
    expect(said.split('order.seen 1796277083022')).toHaveLength(2)
  } finally {
    sender.close()
    program.kill()
    await once(program, 'exit')
  }
})

test('the schedule of the page is that of the program', () => {
  const units: Readonly<Record<string, number>> = { s: 1_000, min: 60_000, h: 3_600_000 }
  const [, row = ''] = /\| after the previous one \| at once \|(.*)\|/.exec(page) ?? []
  const delays = row.split('|').map((cell) => {
    const [count = '', unit = ''] = cell.trim().split(' ')
    return Number(count) * (units[unit] ?? Number.NaN)
  })
  expect(delays).toEqual(retryDelaysMs)
})
