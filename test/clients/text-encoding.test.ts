import { expect, test } from 'vitest'
import { decodeText, UnknownCharset } from '../../src/clients/http/text-encoding.ts'

const text = '{"name":"Größe"}'

test.each([
  ['utf8', null],
  ['utf8', 'application/json'],
  ['utf8', 'application/json; charset=UTF8'],
  ['latin1', 'application/json; charset=cp1252'],
  ['latin1', 'application/json;Charset="ISO-8859-1"'],
  ['utf16le', 'application/json; charset=utf-16le'],
] as const)('an answer in %s is decoded by its content type: %s', (encoding, contentType) => {
  expect(decodeText(Buffer.from(text, encoding), contentType)).toBe(text)
})

test('a byte order mark says more than the content type, and is not part of the text', () => {
  expect(decodeText(Buffer.from(`\uFEFF${text}`), 'application/json; charset=cp1252')).toBe(text)
  expect(decodeText(Buffer.from(`\uFEFF${text}`, 'utf16le'), 'application/json; charset=utf-8')).toBe(text)
})

test('an unknown encoding is a fault, unless there is nothing in it that could be read differently', () => {
  expect(() => decodeText(Buffer.from(text), 'application/json; charset=klingon-8')).toThrow(UnknownCharset)
  expect(decodeText(Buffer.from('{}'), 'application/json; charset=klingon-8')).toBe('{}')
})
