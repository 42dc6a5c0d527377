import type { FastifyInstance } from 'fastify'
import { body } from '../http/control-request.ts'
import type { World } from '../world.ts'
import { displayChange } from './display.ts'

/** Control routes of display advertising. */
export const registerDisplayControl = (app: FastifyInstance, world: World): void => {
  app.get('/display', async () => world.display.settings())
  app.put('/display', async (request) => world.display.change(body(displayChange, request)))
}
