import { AuthenticationApi, Configuration, OrdersApi } from '@whitebox-co/walmart-marketplace-api'
import {
  InlineResponse200OrderOrderLinesOrderLineStatusesTrackingInfoCarrierNameCarrierEnum as Carrier,
  InlineResponse200OrderOrderLinesOrderLineStatusesTrackingInfoMethodCodeEnum as MethodCode,
  V3OrdersPurchaseOrderIdCancelOrderCancellationOrderLinesOrderLineStatusesOrderLineStatusCancellationReasonEnum as Reason,
  V3OrdersPurchaseOrderIdCancelOrderCancellationOrderLinesOrderLineStatusesOrderLineStatusStatusEnum as StatusOfCancellation,
  V3OrdersPurchaseOrderIdShippingOrderShipmentOrderLinesOrderLineStatusesOrderLineStatusStatusEnum as StatusOfShipment,
  InlineResponse200OrderOrderLinesOrderLineQuantityUnitOfMeasurementEnum as Unit,
} from '@whitebox-co/walmart-marketplace-api/lib/src/apis/orders.js'
import { getAllRecursively } from '@whitebox-co/walmart-marketplace-api/lib/src/util/requestHelpers.js'
import { expect, test } from 'vitest'
import { at, type Json, listUnits, readEffects, startLiveClient, type TestClient } from '../sandbox/support.ts'

// A public client of the marketplace, by its own makers' code and types, over the sandbox: what it sends to the live service must be
// understood here, and what it reads there must be found here.

interface PublicClient {
  readonly sandbox: TestClient
  readonly orders: OrdersApi
  readonly authentication: AuthenticationApi
  /** What each of its calls carries: the library wants it spelt out. */
  readonly common: () => {
    readonly authorization: string
    readonly wMSECACCESSTOKEN: string
    readonly wMQOSCORRELATIONID: string
    readonly wMSVCNAME: string
  }
}

const toJson = (value: unknown): Json => JSON.parse(JSON.stringify(value))

const connected = async (): Promise<PublicClient> => {
  const sandbox = await startLiveClient()
  const configuration = new Configuration({ basePath: sandbox.url })
  const authentication = new AuthenticationApi(configuration)
  const authorization = `Basic ${Buffer.from('sandbox-client:sandbox-secret').toString('base64')}`
  // Its makers' own samples use such a correlation id.
  const caller = { authorization, wMQOSCORRELATIONID: '1234567890', wMSVCNAME: 'public client' }
  const answer = await authentication.tokenAPI({ ...caller, grantType: 'client_credentials' })
  const wMSECACCESSTOKEN = String(at(toJson(answer.data), 'access_token'))
  return { sandbox, orders: new OrdersApi(configuration), authentication, common: () => ({ ...caller, wMSECACCESSTOKEN }) }
}

/** The status and body of a call that the library throws for. */
const buildRefusal = async (call: Promise<unknown>): Promise<{ readonly status: Json; readonly data: Json }> => {
  try {
    await call
  } catch (error) {
    const response: unknown = typeof error === 'object' && error !== null && 'response' in error ? error.response : null
    if (typeof response === 'object' && response !== null && 'status' in response && 'data' in response)
      return { status: toJson(response.status), data: toJson(response.data) }
    throw error
  }
  throw new Error('expected a refusal')
}

test('gets a token and is told what it is good for', async () => {
  const { authentication, common } = await connected()
  const { data } = await authentication.getTokenDetail(common())
  expect(toJson(data)).toMatchObject({ is_valid: true, scopes: { orders: 'full_access' } })
})

test('lists orders over several pages by its own helper, and reads one', async () => {
  const { sandbox, orders, common } = await connected()
  const placed: string[] = []
  for (let index = 0; index < 5; index += 1) placed.push(await sandbox.place([{ sku: 'A', quantity: index + 1 }]))
  const listed = await getAllRecursively(orders, 'getAllOrders', { ...common(), limit: '2' })
  expect(toJson(listed)).toMatchObject(placed.map((purchaseOrderId) => ({ purchaseOrderId })))
  const released = await orders.getAllReleasedOrders({ ...common(), limit: '3' })
  expect(released.data.list?.elements.order).toHaveLength(3)
  const one = await orders.getAnOrder({ ...common(), purchaseOrderId: String(placed[4]) })
  expect(at(toJson(one.data), 'order', 'orderLines', 'orderLine', 0, 'orderLineQuantity', 'amount')).toBe('5')
})

test('acknowledges, ships and cancels several units of a line', async () => {
  const { sandbox, orders, common } = await connected()
  const purchaseOrderId = await sandbox.place([
    { sku: 'A', quantity: 3 },
    { sku: 'B', quantity: 2 },
  ])
  const statusQuantity = (amount: string) => ({ unitOfMeasurement: Unit.Each, amount })
  const acknowledged = await orders.acknowledgeOrders({ ...common(), purchaseOrderId })
  expect(listUnits(at(toJson(acknowledged.data), 'order'))).toBe('Acknowledged 3')
  const shipped = await orders.shippingUpdates({
    ...common(),
    purchaseOrderId,
    inlineObject2: {
      orderShipment: {
        orderLines: {
          orderLine: [
            {
              lineNumber: '1',
              sellerOrderId: '92344',
              orderLineStatuses: {
                orderLineStatus: [
                  {
                    status: StatusOfShipment.Shipped,
                    statusQuantity: statusQuantity('2'),
                    trackingInfo: {
                      shipDateTime: Date.now(),
                      carrierName: { carrier: Carrier.Ups },
                      methodCode: MethodCode.Standard,
                      trackingNumber: '1Z999',
                      trackingURL: 'https://tracking.example/1Z999',
                    },
                  },
                ],
              },
            },
          ],
        },
      },
    },
  })
  expect(listUnits(at(toJson(shipped.data), 'order'))).toBe('Acknowledged 1, Shipped 2')
  const cancelled = await orders.cancelOrderLines({
    ...common(),
    purchaseOrderId,
    inlineObject1: {
      orderCancellation: {
        orderLines: {
          orderLine: [
            {
              lineNumber: '2',
              orderLineStatuses: {
                orderLineStatus: [
                  {
                    status: StatusOfCancellation.Cancelled,
                    cancellationReason: Reason.SellerCancelOutOfStock,
                    statusQuantity: statusQuantity('1'),
                  },
                ],
              },
            },
          ],
        },
      },
    },
  })
  expect(listUnits(at(toJson(cancelled.data), 'order'), 1)).toBe('Acknowledged 1, Cancelled 1')
  expect(await readEffects(sandbox, purchaseOrderId)).toEqual([
    'acknowledged 3 of line 1 by seller',
    'acknowledged 2 of line 2 by seller',
    'shipped 2 of line 1 by seller',
    'cancelled 1 of line 2 by seller',
  ])
})

test('its refunds name XML as their content type, and it is told so', async () => {
  const { sandbox, orders, common } = await connected()
  const purchaseOrderId = await sandbox.place([{ sku: 'A' }])
  const inlineObject = { purchaseOrderId, orderLines: { orderLine: [] } }
  const { status, data } = await buildRefusal(orders.refundOrderLines({ ...common(), purchaseOrderId, inlineObject }))
  expect(status).toBe(415)
  expect(at(data, 'errors', 'error', 0, 'description')).toBe('The body must be application/json; this one is XML')
})

test('nothing to list is a failure to it, which tells that there is none', async () => {
  const { orders, common } = await connected()
  const { status, data } = await buildRefusal(orders.getAllOrders(common()))
  expect([status, at(data, 'errors', 'error', 0, 'code')]).toEqual([404, 'CONTENT_NOT_FOUND.GMP_ORDER_API'])
})
