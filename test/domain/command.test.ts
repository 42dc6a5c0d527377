import { describe, expect, it, test } from 'vitest'
import { ZodError } from 'zod'
import { operationNames } from '../../src/clients/marketplace/endpoints.ts'
import {
  commandStates,
  commandTransitions,
  isInFlight,
  isSettled,
  listUnits,
  operationOfKind,
  parseCommand,
  readStoredCommand,
} from '../../src/domain/commands/command.ts'

describe('command states', () => {
  it('end settled, from everywhere', () => {
    expect(commandStates.filter(isSettled)).toEqual(['confirmed', 'rejected', 'predicted', 'withdrawn'])
    for (const start of commandStates) {
      const reached = new Set([start])
      for (const state of reached) for (const next of commandTransitions[state]) reached.add(next)
      expect([...reached].some(isSettled), start).toBe(true)
    }
  })

  it('may have reached the marketplace once they were sent, until they are final', () => {
    expect(commandStates.filter(isInFlight)).toEqual(['sending', 'verifying', 'held'])
  })

  it('never send again what is final or held without a person', () => {
    expect(commandStates.filter((state) => commandTransitions[state].includes('sending'))).toEqual(['pending'])
    expect(commandTransitions.confirmed).toEqual([])
    expect(commandTransitions.predicted).toEqual(['withdrawn'])
    expect(commandTransitions.withdrawn).toEqual([])
  })
})

describe('payloads', () => {
  const parcel = { carrier: 'UPS', trackingUrl: null, method: null, shippedAt: '2026-03-01T09:30:00.000Z' }
  const line = (lineNumber: string, quantity: number) => ({ lineNumber, quantity })

  it('tell the units they take, line by line', () => {
    const ship = parseCommand('ship', {
      parcels: [
        { ...parcel, trackingNumber: 'A', lines: [line('2', 1), line('1', 2)] },
        { ...parcel, trackingNumber: 'B', lines: [line('2', 3)] },
      ],
    })
    expect(listUnits(ship.payload)).toEqual([line('2', 4), line('1', 2)])
    expect(listUnits(parseCommand('acknowledge', {}).payload)).toEqual([])
  })

  it('are refused when the kind is unknown or the payload is of another kind', () => {
    expect(() => parseCommand('return', {})).toThrow(ZodError)
    expect(() => parseCommand('ship', { lines: [] })).toThrow(ZodError)
    expect(() => parseCommand('cancel', { lines: [{ ...line('1', 0), reason: 'Others' }] })).toThrow(ZodError)
  })

  it('of earlier versions with times that cannot be read back are listed and counted all the same, and not sent', () => {
    const shippedAt = '+010000-01-01T04:59:59.000Z'
    const payload = { parcels: [{ ...parcel, shippedAt, trackingNumber: 'A', lines: [line('2', 1)] }] }
    expect(listUnits(parseCommand('ship', payload).payload)).toEqual([line('2', 1)])
    const read = readStoredCommand('ship', payload, [line('2', 1)])
    expect(read).toEqual({ content: { kind: 'ship', payload }, fault: expect.stringContaining(shippedAt) })
    expect(readStoredCommand('ship', { parcels: [{ ...payload.parcels[0], ...parcel }] }, []).fault).toBeNull()
  })

  it('that cannot be read at all take the units of their lines, whatever they hold', () => {
    const lines = [line('1', 2), line('2', 1)]
    for (const kind of ['ship', 'cancel', 'refund', 'exchange']) {
      for (const payload of [null, 7, 'x', {}, { lines: 'none' }, { parcels: [{}] }]) {
        const { content, fault } = readStoredCommand(kind, payload, lines)
        expect(content.kind).toBe(kind === 'exchange' ? 'cancel' : kind)
        expect(listUnits(content.payload)).toEqual(lines)
        expect(fault).toContain('cannot be read')
      }
    }
    expect(readStoredCommand('create-shipping-settings', null, [])).toMatchObject({
      content: { kind: 'create-shipping-settings' },
      fault: expect.stringContaining('cannot be read'),
    })
    expect(readStoredCommand('acknowledge', {}, [])).toEqual({ content: { kind: 'acknowledge', payload: {} }, fault: null })
  })

  it('never carry a refund that takes money from the buyer', () => {
    const refund = (amount: string) => ({
      lines: [
        {
          ...line('1', 1),
          reason: 'Others',
          charges: [{ chargeType: 'PRODUCT', chargeName: 'Item', amount, currency: 'USD', tax: null }],
        },
      ],
    })
    expect(() => parseCommand('refund', refund('1.00'))).toThrow(ZodError)
    expect(parseCommand('refund', refund('-1.00')).kind).toBe('refund')
  })
})

test('each kind of command calls an operation that there is', () => {
  expect(operationNames).toEqual(expect.arrayContaining(Object.values(operationOfKind)))
})
