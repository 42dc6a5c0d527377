import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { isIP } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)

/** A certificate and its key, in PEM files. */
export interface CertificateFiles {
  readonly cert: string
  readonly key: string
}

/** A certificate authority of the tests' own, in a temporary folder. */
export interface TestAuthority {
  /** File of its certificate. */
  readonly ca: string
  readonly folder: string
  /** Issues a certificate: for the name `subject`, and for a server that is addressed by these names. */
  issue(subject: string, names?: readonly string[]): Promise<CertificateFiles>
  /** What a client of Node needs, as PEM. */
  pem(files?: CertificateFiles): Promise<{ readonly ca: string; readonly cert?: string; readonly key?: string }>
  remove(): Promise<void>
}

/** Makes one with openssl; nobody trusts it but whoever is told to. */
export const makeAuthority = async (): Promise<TestAuthority> => {
  const folder = await mkdtemp(path.join(tmpdir(), 'tallyman-authority-'))
  const at = (name: string): string => path.join(folder, name)
  const newKey = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes']
  const openssl = (...args: readonly string[]) => run('openssl', args)
  const ca = at('ca.pem')
  await openssl('req', '-x509', ...newKey, '-keyout', at('ca.key'), '-out', ca, '-days', '2', '-subj', '/CN=Authority of a test')
  return {
    ca,
    folder,
    issue: async (subject, names = []) => {
      const [cert, key, request, extensions] = ['pem', 'key', 'csr', 'ext'].map((ending) => at(`${subject}.${ending}`))
      if (cert === undefined || key === undefined || request === undefined || extensions === undefined)
        throw new Error('a certificate has four files')
      await openssl('req', ...newKey, '-keyout', key, '-out', request, '-subj', `/CN=${subject}`)
      await writeFile(
        extensions,
        names.length === 0
          ? ''
          : `subjectAltName=${names.map((name) => `${isIP(name) === 0 ? 'DNS' : 'IP'}:${name}`).join(',')}\n`,
      )
      const signed = ['-CA', ca, '-CAkey', at('ca.key'), '-CAcreateserial', '-days', '2', '-extfile', extensions]
      await openssl('x509', '-req', '-in', request, '-out', cert, ...signed)
      return { cert, key }
    },
    pem: async (files) => ({
      ca: await readFile(ca, 'utf8'),
      ...(files === undefined ? {} : { cert: await readFile(files.cert, 'utf8'), key: await readFile(files.key, 'utf8') }),
    }),
    remove: () => rm(folder, { recursive: true, force: true }),
  }
}
