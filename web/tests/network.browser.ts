import { afterAll, beforeAll, expect, test } from 'vitest'

import { composer, messages, send, timeline } from './harness/locators.ts'
import { NetworkProxy } from './harness/networkProxy.ts'
import { TestApp } from './harness/testApp.ts'

let app: TestApp
beforeAll(async () => {
  app = await TestApp.start()
})
afterAll(() => app.close())

test.each(['drop', 'silence'] as const)('after a network failure (%s) during a text stream the page equals a fresh load', async (how) => {
  const [lina, omar, ada] = [await app.person(`Lina ${how}`), await app.person(`Omar ${how}`), await app.agent(`Ada ${how}`)]
  const space = await app.space(`Project ${how}`, [lina, omar, ada])
  const network = await new NetworkProxy(app.gateway.url).open()
  const hers = await app.open(lina)
  await hers.clock.install()
  await hers.goto(`${network.url}/spaces/${space.id}`)
  await send(hers, 'hold: One two three four five six seven eight nine ten.')
  await hers.getByRole('list', { name: 'Active agents' }).getByText(/is (thinking|writing)/).waitFor()
  await hers.locator('[data-stream]').getByText('One two').waitFor()

  network[how]()
  // While the page is offline, the agent finishes, Omar replies, and Omar is removed.
  app.model.release()
  await expect.poll(async () => (await omar.client.messages.list(space.id)).messages.length).toBe(2)
  await omar.client.messages.post(space.id, { text: 'I have read it.' })
  await app.owner.client.spaces.remove(space.id, omar.id)
  await send(hers, 'Are you still there?')
  if (how === 'drop') await hers.getByText('Will send when').waitFor()
  // Only the missing heartbeats reveal a silent network.
  await hers.clock.fastForward(how === 'drop' ? 5000 : 41_000)
  if (how === 'silence') await hers.clock.fastForward(5000)
  await hers.getByText('Reconnecting').waitFor()
  network.restore()
  await hers.clock.fastForward(9000)

  await hers.getByText('Reconnecting').waitFor({ state: 'detached' })
  await hers.getByText('Will send when').waitFor({ state: 'detached' })
  await hers.locator('[data-stream]').waitFor({ state: 'detached' })
  await messages(hers).getByText('I have read it.').waitFor()
  await expect.poll(async () => (await lina.client.messages.list(space.id)).messages.at(-1)!.text).toBe('Are you still there?')
  await expect.poll(() => messages(hers).count()).toBe(4)
  const fresh = await app.open(lina, `/spaces/${space.id}`)
  await messages(fresh).getByText('Are you still there?').waitFor()
  await expect.poll(() => timeline(hers)).toEqual(await timeline(fresh))
  await expect.poll(() => hers.getByRole('button', { name: /members/ }).innerText()).toBe(await fresh.getByRole('button', { name: /members/ }).innerText())
  network.close()
  await app.closePages()
})

test.each(['the next connection', 'another try'])('a choice made without a network, sent with %s, changes only its own entry of a list that was changed elsewhere', async (how) => {
  const zaid = await app.person(`Zaid ${how}`)
  const [here, elsewhere] = [await app.space('Depot', [zaid]), await app.space('Forge', [zaid])]
  const network = await new NetworkProxy(app.gateway.url).open()
  const page = await app.open(zaid)
  await page.clock.install()
  await page.goto(`${network.url}/spaces/${here.id}`)
  await composer(page).waitFor()
  const options = page.getByRole('button', { name: 'Space options' })
  // The menu loads when it is opened for the first time. Its first choice is the state that both know.
  await options.click()
  await page.getByRole('menuitem', { name: 'Pin to top' }).click()
  await expect.poll(async () => (await zaid.client.preferences.get()).pinned).toEqual([here.id])
  network.drop()
  await zaid.client.preferences.change({ muted: [elsewhere.id], pinned: [here.id, elsewhere.id] })
  await options.click()
  await page.getByRole('menuitem', { name: 'Mute' }).click()
  await page.getByText('Reconnecting').waitFor()
  network.restore()
  // The choice is tried again after five seconds, even if the connection is not back yet.
  await page.clock.fastForward(how === 'another try' ? 5000 : 1000)
  await expect.poll(async () => (await zaid.client.preferences.get()).muted.toSorted()).toEqual([here.id, elsewhere.id].toSorted())
  await page.getByRole('list', { name: 'Pinned', exact: true }).getByText('Forge').waitFor()
  network.close()
  await app.closePages()
})
