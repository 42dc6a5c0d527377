import { createSign, generateKeyPairSync } from 'node:crypto'

/** DER: a tag, the length, the contents. */
const der = (tag: number, ...contents: readonly Buffer[]): Buffer => {
  const body = Buffer.concat(contents)
  const length = body.length < 128 ? Buffer.of(body.length) : Buffer.of(0x82, body.length >> 8, body.length & 0xff)
  return Buffer.concat([Buffer.of(tag), length, body])
}

const sequence = (...contents: readonly Buffer[]): Buffer => der(0x30, ...contents)
const utcTime = (date: Date): Buffer => der(0x17, Buffer.from(`${date.toISOString().slice(2, 19).replace(/[-:T]/g, '')}Z`))

/** A certificate for `localhost` that vouches for itself, valid today, with its key; both PEM. */
export const selfSignedCertificate = (): { readonly key: string; readonly cert: string } => {
  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const sha256WithRsa = sequence(der(0x06, Buffer.from('2a864886f70d01010b', 'hex')), der(0x05))
  const commonName = sequence(der(0x06, Buffer.from('550403', 'hex')), der(0x0c, Buffer.from('localhost')))
  const name = sequence(der(0x31, commonName))
  const validity = sequence(utcTime(new Date(Date.now() - 86_400_000)), utcTime(new Date(Date.now() + 86_400_000)))
  const version3 = der(0xa0, der(0x02, Buffer.of(2)))
  const serial = der(0x02, Buffer.of(1))
  const publicKeyInfo = publicKey.export({ type: 'spki', format: 'der' })
  const toSign = sequence(version3, serial, sha256WithRsa, name, validity, name, publicKeyInfo)
  const signature = createSign('sha256').update(toSign).sign(privateKey)
  const certificate = sequence(toSign, sha256WithRsa, der(0x03, Buffer.of(0), signature)).toString('base64')
  return {
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    cert: `-----BEGIN CERTIFICATE-----\n${certificate.replace(/.{64}/g, '$&\n')}\n-----END CERTIFICATE-----\n`,
  }
}
