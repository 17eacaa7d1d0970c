import { afterAll, beforeAll, expect, test } from 'vitest'

import { House } from './harness/testApp.ts'
import { messages, say, timeline } from './harness/locators.ts'
import { Wire } from './harness/networkProxy.ts'

let house: House
beforeAll(async () => {
  house = await House.open()
})
afterAll(() => house.close())

test.each(['cut', 'die'] as const)('the network does %s in the middle of a streamed message: afterwards the page is what a fresh load shows', async (how) => {
  const [lina, omar, ada] = [await house.person(`Lina ${how}`), await house.person(`Omar ${how}`), await house.agent(`Ada ${how}`)]
  const space = await house.space(`Project ${how}`, [lina, omar, ada])
  const wire = await new Wire(house.gateway.url).open()
  const hers = await house.visit(lina)
  await hers.clock.install()
  await hers.goto(`${wire.url}/spaces/${space.id}`)
  await say(hers, 'hold: One two three four five six seven eight nine ten.')
  await hers.getByRole('list', { name: 'Agents at work' }).getByText(/is (thinking|writing)/).waitFor()
  await hers.locator('[data-stream]').getByText('One two').waitFor()

  wire[how]()
  // All of this happens while she is away: the words are said to their end, somebody answers, somebody leaves.
  house.model.release()
  await expect.poll(async () => (await omar.client.messages.list(space.id)).messages.length).toBe(2)
  await omar.client.messages.post(space.id, { text: 'I have heard it.' })
  await house.owner.client.spaces.remove(space.id, omar.id)
  await say(hers, 'Are you still there?')
  if (how === 'cut') await hers.getByText('Waiting for a connection').waitFor()
  // A dead wire is noticed by its silence.
  await hers.clock.fastForward(how === 'cut' ? 5000 : 41_000)
  if (how === 'die') await hers.clock.fastForward(5000)
  await hers.getByText('Trying again').waitFor()
  wire.mend()
  await hers.clock.fastForward(9000)

  await hers.getByText('Trying again').waitFor({ state: 'detached' })
  await hers.getByText('Waiting for a connection').waitFor({ state: 'detached' })
  await hers.locator('[data-stream]').waitFor({ state: 'detached' })
  await messages(hers).getByText('I have heard it.').waitFor()
  await expect.poll(async () => (await lina.client.messages.list(space.id)).messages.at(-1)!.text).toBe('Are you still there?')
  await expect.poll(() => messages(hers).count()).toBe(4)
  const fresh = await house.visit(lina, `/spaces/${space.id}`)
  await messages(fresh).getByText('Are you still there?').waitFor()
  await expect.poll(() => timeline(hers)).toEqual(await timeline(fresh))
  await expect.poll(() => hers.getByRole('button', { name: /members/ }).innerText()).toBe(await fresh.getByRole('button', { name: /members/ }).innerText())
  wire.close()
  await house.leaveAll()
})
