import { chmod, mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { readCliSettings } from '../src/cli/settings.ts'
import { buildShownAddress, withoutPassword } from '../src/embedded/address.ts'
import { addressFile, readDaemonAddress, writeDaemonAddress } from '../src/util/net/daemon-address.ts'

const newFolder = async (): Promise<string> => {
  const folder = await mkdtemp(path.join(tmpdir(), 'tallyman-address-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  return folder
}

test('the command line finds the daemon of its DATA_DIR, and no longer once that has stopped', async () => {
  const folder = await newFolder()
  const takeBack = await writeDaemonAddress(folder, 'http://127.0.0.1:41234')
  expect((await stat(path.join(folder, addressFile))).mode & 0o777).toBe(0o600)
  expect(readCliSettings({ DATA_DIR: folder }).daemonUrl).toBe('http://127.0.0.1:41234')
  expect(readCliSettings({ DATA_DIR: folder, PORT: '0' }).daemonUrl).toBe('http://127.0.0.1:41234')
  expect(readCliSettings({ DATA_DIR: folder, PORT: '9000' }).daemonUrl).toBe('http://127.0.0.1:9000')
  expect(readCliSettings({ DATA_DIR: folder, TALLYMAN_URL: 'https://tallyman.example/' }).daemonUrl).toBe(
    'https://tallyman.example',
  )
  await takeBack()
  expect(await readdir(folder)).toEqual([])
  expect(readCliSettings({ DATA_DIR: folder }).daemonUrl).toBe('http://127.0.0.1:8080')
})

test('a daemon takes back only its own address', async () => {
  const folder = await newFolder()
  const takeBack = await writeDaemonAddress(folder, 'http://127.0.0.1:1')
  await writeDaemonAddress(folder, 'http://127.0.0.1:2')
  await takeBack()
  expect(readDaemonAddress(folder)).toBe('http://127.0.0.1:2')
})

test('what is no address, or not there, is none', async () => {
  const folder = await newFolder()
  expect(readDaemonAddress(path.join(folder, 'nothing'))).toBeNull()
  await writeFile(path.join(folder, addressFile), 'not an address\n')
  expect(readDaemonAddress(folder)).toBeNull()
  await chmod(path.join(folder, addressFile), 0o600)
})

test('the address of a database is shown without its password, fit for a shell', () => {
  expect(withoutPassword('postgresql://u:s3cret@db.example:5433/shop?sslmode=require&password=s3cret')).toBe(
    'postgresql://u@db.example:5433/shop?sslmode=require',
  )
  expect(buildShownAddress(5_432, '/srv/the data/postgres.pgpass')).toBe(
    'postgresql://tallyman@127.0.0.1:5432/tallyman?passfile=/srv/the%20data/postgres.pgpass',
  )
})
