import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import type { World } from '../world.ts'
import { body, Misused } from './control-request.ts'

const id = z.string().min(1)
const connectionBody = z.strictObject({
  sellerId: id,
  clientId: id.default('provider-client'),
  clientSecret: id.default('provider-secret'),
  rotates: z.boolean().default(false),
})
const revocationBody = connectionBody.pick({ sellerId: true, clientId: true })

/** The consent of sellers to an app of a solution provider, without the pages and the code of the authorisation. */
export const registerConnectionControl = (app: FastifyInstance, { sellers, connections }: World): void => {
  app.get('/connections', async () => ({ items: connections.list() }))
  app.post('/connections', async (request, reply) => {
    const { sellerId, clientId, clientSecret, rotates } = body(connectionBody, request)
    if (sellers.byClientId(clientId) !== null) throw new Misused(409, 'clientId: is that of a seller')
    if (sellers.find(sellerId) === null) {
      const own = { clientId: `${sellerId}-client`, clientSecret: `${sellerId}-secret` }
      sellers.put({ sellerId, ...own, revoked: false, delegated: false })
    }
    connections.putApp(clientId, clientSecret)
    const { refreshToken } = connections.issue({ clientId, sellerId, rotates })
    reply.code(201)
    return { sellerId, partnerId: sellerId, clientId, clientSecret, refreshToken, rotates }
  })
  app.post('/connections/revoke', async (request) => {
    const { sellerId, clientId } = body(revocationBody, request)
    const revoked = connections.revoke(clientId, sellerId)
    sellers.dropTokens(sellerId)
    return { revoked }
  })
}
