import { afterAll, beforeAll, expect, test } from 'vitest'
import { settings } from '../domain/support/shipping-settings.ts'
import { numbered } from '../support/changes.ts'
import { withDatabase } from '../support/database.ts'
import { at, textAt } from '../support/json.ts'
import { startServer, type TestServer } from './support.ts'

const stage = withDatabase()
let server: TestServer

beforeAll(async () => {
  server = await startServer(stage.database)
})
afterAll(async () => {
  await server.close()
})

const define = (id: string, simplifiedShippingSettings: unknown) =>
  server.json('/v1/events', {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'ce-specversion': '1.0',
      'ce-id': id,
      'ce-source': 'urn:erp',
      'ce-type': 'erp.shipping-settings.defined',
    },
    body: JSON.stringify({ simplifiedShippingSettings }),
  })

test('settings become a command that names no order, wherever commands are shown', async () => {
  const accepted = await define('e-1', settings())
  expect(accepted).toMatchObject({ status: 202, body: { items: [{ id: 'e-1', status: 'accepted', state: 'accepted' }] } })
  const id = textAt(accepted.body, 'items', 0, 'commands', 0)
  const shown = { id, purchaseOrderId: null, kind: 'create-shipping-settings', state: 'pending', lines: [] }
  expect(at((await server.json('/v1/commands?eventId=e-1')).body, 'items')).toMatchObject([shown])
  expect((await server.json(`/v1/commands/${id}`)).body).toMatchObject(shown)
  expect((await server.json('/v1/events/urn%3Aerp/e-1')).body).toMatchObject({ state: 'accepted', commands: [shown] })
  await numbered(stage.database)
  const changes = at((await server.json('/v1/changes')).body, 'items')
  expect(changes).toMatchObject([{ type: 'command.pending', purchaseOrderId: null, commandId: id }])
  expect(at((await server.json('/v1/overview')).body, 'commands')).toEqual({ pending: 1 })
  const rejected = await server.json(`/v1/commands/${id}/reject`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ actor: 'kim', reason: 'not yet' }),
  })
  expect(rejected).toMatchObject({ status: 200, body: { id, state: 'rejected' } })
})

test('wrong settings are a problem with the path of each fault', async () => {
  const [ups] = settings().accountConfigs.carrierConfigs
  const { status, body } = await define('e-2', settings({ carrierConfigs: [{ ...ups, carriers: [{ carrierName: 'DHL' }] }] }))
  expect(status).toBe(422)
  expect(body).toMatchObject({
    code: 'invalid-event',
    errors: [
      {
        path: 'data.simplifiedShippingSettings.accountConfigs.carrierConfigs[0].carriers[0].carrierService',
        message: 'is missing',
      },
      {
        path: 'data.simplifiedShippingSettings.accountConfigs.carrierConfigs[0].carriers[0].carrierName',
        message: 'is DHL, which is no carrier of the marketplace; it must be one of Fedex, UPS, USPS',
      },
    ],
  })
})
