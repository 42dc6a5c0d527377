import type { FastifyInstance, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { body, registeredSeller } from '../http/control-request.ts'
import { readParams } from '../http/params.ts'
import type { World } from '../world.ts'

const traitsBody = z
  .strictObject({
    thirdPartyLogistics: z.boolean(),
    bundles: z.boolean(),
    internationalCenters: z.boolean(),
    majorAppliances: z.boolean(),
  })
  .partial()

/** Control routes of the shipping settings. */
export const registerShippingSettingsControl = (app: FastifyInstance, world: World): void => {
  const { shippingSettings } = world
  const findSeller = (request: FastifyRequest): string => registeredSeller(world, readParams(request)['sellerId'])
  app.get('/sellers/:sellerId/traits', async (request) => shippingSettings.traits(findSeller(request)))
  app.put('/sellers/:sellerId/traits', async (request) => {
    const { thirdPartyLogistics, bundles, internationalCenters, majorAppliances } = body(traitsBody, request)
    const sellerId = findSeller(request)
    const known = shippingSettings.traits(sellerId)
    const traits = {
      thirdPartyLogistics: thirdPartyLogistics ?? known.thirdPartyLogistics,
      bundles: bundles ?? known.bundles,
      internationalCenters: internationalCenters ?? known.internationalCenters,
      majorAppliances: majorAppliances ?? known.majorAppliances,
    }
    shippingSettings.putTraits(sellerId, traits)
    return traits
  })
  app.get('/sellers/:sellerId/shipping-settings', async (request) => ({
    simplifiedShippingSettings: shippingSettings.find(findSeller(request)),
  }))
  app.delete('/sellers/:sellerId/shipping-settings', async (request) => ({
    removed: shippingSettings.remove(findSeller(request)),
  }))
}
