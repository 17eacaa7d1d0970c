import { afterAll, beforeAll, expect, test } from 'vitest'

import { House } from './harness/testApp.ts'
import { composer, messages, say, timeline } from './harness/locators.ts'

let house: House
beforeAll(async () => {
  house = await House.open()
})
afterAll(() => house.close())

test('the server dies in the middle of a streamed message: afterwards the page is what a fresh load shows', async () => {
  const [lina, omar, ada] = [await house.person('Lina'), await house.person('Omar'), await house.agent('Ada')]
  const space = await house.space('Project Alpha', [lina, omar, ada])
  const at = `/spaces/${space.id}`
  const hers = await house.visit(lina, at)
  // The page's clock can be moved on: nobody has to sit out the pauses between two tries.
  await hers.clock.install()
  await hers.reload()
  await say(hers, 'hold: One two three four five six seven eight nine ten.')
  await hers.locator('[data-stream]').getByText('One two').waitFor()

  await house.gateway.kill()
  await say(hers, 'Are you still there?')
  await hers.getByText('Waiting for a connection').waitFor()
  expect(await hers.getByText('Trying again').count()).toBe(0)
  await hers.clock.fastForward(5000)
  await hers.getByText('Trying again').waitFor()
  await house.gateway.up()
  await hers.clock.fastForward(9000)

  await hers.getByText('Trying again').waitFor({ state: 'detached' })
  await hers.getByText('Waiting for a connection').waitFor({ state: 'detached' })
  // The run is taken over, asks the model again, and says it to the end.
  await hers.locator('[data-stream]').getByText('One two').waitFor()
  house.model.release()
  await messages(hers).getByText('nine ten.').nth(1).waitFor()
  await hers.locator('[data-stream]').waitFor({ state: 'detached' })
  await omar.client.messages.post(space.id, { text: 'I am here.' })
  await messages(hers).getByText('I am here.').waitFor()

  const fresh = await house.visit(lina, at)
  await composer(fresh).waitFor()
  await messages(fresh).getByText('I am here.').waitFor()
  await expect.poll(() => timeline(hers)).toEqual(await timeline(fresh))
  const texts = (await lina.client.messages.list(space.id)).messages.map((message) => message.text)
  expect(new Set(texts).size).toBe(texts.length)
})
