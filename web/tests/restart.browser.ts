import { afterAll, beforeAll, expect, test } from 'vitest'

import { composer, messages, send, timeline } from './harness/locators.ts'
import { TestApp } from './harness/testApp.ts'

let app: TestApp
beforeAll(async () => {
  app = await TestApp.start()
})
afterAll(() => app.close())

test('after a server crash during a text stream the page equals a fresh load', async () => {
  const [lina, omar, ada] = [await app.person('Lina'), await app.person('Omar'), await app.agent('Ada')]
  const space = await app.space('Project Alpha', [lina, omar, ada])
  const at = `/spaces/${space.id}`
  const hers = await app.open(lina, at)
  // A fake clock skips the pauses between reconnects.
  await hers.clock.install()
  await hers.reload()
  await send(hers, 'hold: One two three four five six seven eight nine ten.')
  await hers.locator('[data-stream]').getByText('One two').waitFor()

  await app.gateway.kill()
  await send(hers, 'Are you still there?')
  await hers.getByText('Will send when').waitFor()
  expect(await hers.getByText('Reconnecting').count()).toBe(0)
  await hers.clock.fastForward(5000)
  await hers.getByText('Reconnecting').waitFor()
  await app.gateway.start()
  await hers.clock.fastForward(9000)

  await hers.getByText('Reconnecting').waitFor({ state: 'detached' })
  await hers.getByText('Will send when').waitFor({ state: 'detached' })
  // The run is taken over, calls the model again, and finishes.
  await hers.locator('[data-stream]').getByText('One two').waitFor()
  app.model.release()
  await messages(hers).getByText('nine ten.').nth(1).waitFor()
  await hers.locator('[data-stream]').waitFor({ state: 'detached' })
  await omar.client.messages.post(space.id, { text: 'I am here.' })
  await messages(hers).getByText('I am here.').waitFor()

  const fresh = await app.open(lina, at)
  await composer(fresh).waitFor()
  await messages(fresh).getByText('I am here.').waitFor()
  await expect.poll(() => timeline(hers)).toEqual(await timeline(fresh))
  const texts = (await lina.client.messages.list(space.id)).messages.map((message) => message.text)
  expect(new Set(texts).size).toBe(texts.length)
})
