import type { Space } from '@majlis/client'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'

import { composer, message, send } from './harness/locators.ts'
import { TestApp, type Person } from './harness/testApp.ts'

let app: TestApp
let [omar, ada]: Person[] = []
let space: Space
beforeAll(async () => {
  app = await TestApp.start({ MAJLIS_MODEL_PRICES: JSON.stringify({ 'openai:scripted': { input: 2, output: 8 } }) })
  ;[omar, ada] = [await app.person('Omar'), await app.agent('Ada', { instructions: 'Be brief.' })]
  space = await app.space('Project Alpha', [omar!, ada!])
})
afterAll(() => app.close())
afterEach(async () => {
  await app.closePages()
  expect(app.pageErrors.splice(0)).toEqual([])
})
const at = () => `/spaces/${space.id}`

test('an agent is edited in a form or as checked JSON, and its prompt can be previewed before saving', async () => {
  await omar!.client.messages.post(space.id, { text: 'The door is green.' })
  const page = await app.open(app.owner, `/admin/agents/${ada!.id}`)
  const json = page.getByRole('textbox', { name: 'Full config (JSON)' })
  await page.getByRole('textbox', { name: 'Instructions' }).fill('Speak like a sailor.')
  expect(JSON.parse(await json.inputValue())).toMatchObject({ instructions: 'Speak like a sailor.' })

  await page.getByRole('textbox', { name: 'Message' }).fill('What colour is the door?')
  await page.getByRole('button', { name: 'Show prompt' }).click()
  const tried = page.getByRole('region', { name: 'Try it' })
  await tried.getByText(/About [\d,.]+ tokens/).waitFor()
  await tried.getByText('SPACE HISTORY').first().click()
  await tried.getByText(/The door is green/).waitFor()
  await tried.getByText(/Speak like a sailor/).first().waitFor({ state: 'attached' })
  // Nothing was sent or saved.
  expect((await omar!.client.messages.list(space.id)).total).toBe(1)
  expect((await app.owner.client.agents.get(ada!.id)).config['instructions']).toBe('Be brief.')

  const whole = await json.inputValue()
  await json.fill(whole.replace('"timeline"', '"dreamer"'))
  await page.getByText('mind must be one of: timeline, consciousness, roles').waitFor()
  await json.fill(whole.replace('{', '{ "wndow": 3, '))
  await page.getByText('wndow is not a known setting').waitFor()
  await json.fill('{')
  await page.getByText('Invalid JSON').waitFor()
  await json.fill(whole)
  await page.getByRole('button', { name: 'Add rule' }).click()
  await page.getByRole('textbox', { name: 'Tools for rule 1' }).fill('deploy*')
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText(/Saved as version 2/).waitFor()
  expect((await app.owner.client.agents.get(ada!.id)).config).toMatchObject({ instructions: 'Speak like a sailor.', policy: [{ tools: 'deploy*', do: 'ask' }] })
})

test('a failed delivery is retried from its notice, and all members see the result', async () => {
  const [his, hers] = await Promise.all([app.open(omar!, at()), app.open(app.owner, at())])
  app.model.interpret({ 'Are you there?': 'fail: no key' })
  await send(his, 'Are you there?')
  await his.getByRole('group', { name: 'Messages' }).getByRole('button', { name: 'Retry' }).waitFor()
  await message(his, 'Are you there?').hover()
  await message(his, 'Are you there?').getByRole('button', { name: 'Read by' }).click()
  await his.getByRole('dialog', { name: 'Read by' }).getByText('failed to respond').waitFor()
  await his.getByRole('dialog', { name: 'Read by' }).getByRole('button', { name: 'Retry' }).waitFor()
  await his.keyboard.press('Escape')
  app.model.interpret({ 'Are you there?': 'say: Here I am.' })
  await hers.getByRole('button', { name: 'Retry' }).click()
  for (const page of [his, hers]) {
    await message(page, 'Here I am.').waitFor()
    await page.getByRole('button', { name: 'Retry' }).waitFor({ state: 'detached' })
  }
})

test('space admins set tool rules and the roles of members', async () => {
  const page = await app.open(app.owner, '/admin/spaces')
  await page.getByRole('main').getByText('Project Alpha').first().click()
  await page.getByRole('main').getByRole('link', { name: 'Settings of Project Alpha' }).click()
  await page.getByRole('button', { name: 'Add rule' }).click()
  await page.getByRole('textbox', { name: 'Tools for rule 1' }).fill('web_*')
  await page.getByRole('combobox', { name: 'Action for rule 1' }).selectOption({ label: 'Deny' })
  await page.getByRole('complementary').getByRole('button', { name: 'Save' }).click()
  await page.getByText('Saved', { exact: true }).waitFor()
  expect((await app.owner.client.spaces.get(space.id)).toolPolicy).toEqual([{ tools: 'web_*', do: 'deny' }])
  const his = await app.open(omar!, at())
  await composer(his).waitFor()
  await page.getByRole('button', { name: 'Members', exact: true }).click()
  await page.getByRole('combobox', { name: 'Role for Omar' }).selectOption('viewer')
  await his.getByText('You’re a viewer in this space').waitFor()
  await page.getByRole('combobox', { name: 'Role for Omar' }).selectOption('member')
  await composer(his).waitFor()
})

test('an administrator sees all spaces and their members, but no messages of spaces they are not in', async () => {
  const { id } = await omar!.client.spaces.create({ name: 'Between us', description: 'A secret garden' })
  await omar!.client.spaces.add(id, { entityId: ada!.id, role: 'member' })
  await omar!.client.messages.post(id, { text: 'the key is under the stone' })
  const page = await app.open(app.owner, '/admin/spaces')
  await page.getByRole('main').getByText('Between us').first().click()
  await page.getByText('Omar (admin), Ada').waitFor()
  await page.getByText('You aren’t a member of this space').waitFor()
  expect(await page.getByText('under the stone').count()).toBe(0)
  expect(await page.getByRole('link', { name: 'Open Between us' }).count()).toBe(0)
})

test('an administrator sees no controls that only owners can use', async () => {
  const amal = await app.person('Amal')
  await app.owner.client.entities.change(amal.id, { role: 'admin' })
  const page = await app.open(amal, `/admin/people/${omar!.id}`)
  await page.getByText('Only owners can change roles.').waitFor()
  expect(await page.getByRole('combobox', { name: /^Role/ }).isDisabled()).toBe(true)
  await page.getByRole('button', { name: 'Create sign-in link' }).waitFor()
  await page.goto(`/admin/people/${app.owner.id}`)
  await page.getByText('Only owners can change owners.').waitFor()
  expect(await page.getByRole('main').getByRole('button').filter({ visible: true }).count()).toBe(0)
  await page.goto('/admin/spaces')
  await page.getByText('Project Alpha').click()
  await page.getByText('you can’t read or change it').filter({ visible: true }).waitFor()
})

test('a viewer can neither reply nor stop a run, and agent details are for administrators only', async () => {
  const vera = await app.person('Vera')
  const quiet = await app.space('Reading room', [omar!, ada!])
  await app.owner.client.spaces.add(quiet.id, { entityId: vera.id, role: 'viewer' })
  const [hers, his] = await Promise.all([app.open(vera, `/spaces/${quiet.id}`), app.open(omar!, `/spaces/${quiet.id}`)])
  await send(his, 'hold: One two three four five six.')
  for (const page of [hers, his]) await page.getByRole('list', { name: 'Active agents' }).getByText('Ada').waitFor()
  await his.getByRole('button', { name: 'Stop Ada' }).waitFor()
  expect(await hers.getByRole('button', { name: 'Stop Ada' }).count()).toBe(0)
  await hers.getByRole('list', { name: 'Active agents' }).getByRole('button', { name: 'Ada' }).click()
  await hers.getByRole('complementary').getByRole('heading', { name: /Ada running/ }).waitFor()
  expect(await hers.getByRole('complementary').getByRole('button', { name: 'Stop' }).count()).toBe(0)
  const reply = { name: 'Reply' }
  expect(await message(his, 'hold: One two').getByRole('button', reply).count()).toBe(1)
  expect(await message(hers, 'hold: One two').getByRole('button', reply).count()).toBe(0)
  app.model.release()
  await hers.goto(`/spaces/${quiet.id}?inspect=${ada!.id}`)
  await hers.getByText('Only administrators can see an agent’s goals').waitFor()
})

test('leaving a space as its admin takes two clicks', async () => {
  const hall = await omar!.client.spaces.create({ name: 'Hall' })
  await omar!.client.spaces.add(hall.id, { entityId: app.owner.id, role: 'admin' })
  const page = await app.open(omar!, `/spaces/${hall.id}?inspect=members`)
  await page.getByRole('button', { name: 'Leave space' }).click()
  await page.getByRole('button', { name: 'Yes, leave space' }).waitFor()
  expect((await app.owner.client.spaces.get(hall.id)).members).toHaveLength(2)
  await page.getByRole('button', { name: 'Yes, leave space' }).click()
  await page.getByText('You don’t have access to this space').waitFor()
  expect((await app.owner.client.spaces.get(hall.id)).members).toHaveLength(1)
})

test('people and services are created with tokens and sign-in links', async () => {
  const page = await app.open(app.owner, '/admin/people')
  await page.getByRole('textbox', { name: 'Name' }).fill('Build server')
  await page.getByRole('combobox', { name: 'Type' }).selectOption('service')
  await page.getByRole('button', { name: 'Add' }).click()
  await page.locator('code', { hasText: '$TOKEN' }).waitFor()
  await page.getByRole('textbox', { name: 'Label (optional)' }).fill('nightly')
  await page.getByRole('combobox', { name: 'Expiry' }).selectOption({ label: 'Expires in 30 days' })
  await page.getByRole('button', { name: 'Create token' }).click()
  await page.getByText('Copy this token now').waitFor()
  const line = await page.locator('code', { hasText: 'curl' }).innerText()
  const [, path, token, body] = /curl -X POST (\S+) -H "Authorization: Bearer (\S+)" .* -d '(.*)'$/.exec(line)!
  const answer = await fetch(path!, { method: 'POST', headers: { Authorization: `Bearer ${token!}`, 'Content-Type': 'application/json' }, body: body! })
  expect(answer.status).toBe(202)
  await page.getByRole('button', { name: 'Revoke' }).click()
  await page.getByText('nightly').waitFor({ state: 'detached' })
  expect((await fetch(`${app.gateway.url}/api/me`, { headers: { Authorization: `Bearer ${token!}` } })).status).toBe(401)
})

test('the inspector shows the usage, cost and cycles of an agent', async () => {
  const nour = await app.agent('Nour', { mind: 'consciousness' })
  const quiet = await app.space('Quiet', [nour])
  await app.owner.client.messages.post(quiet.id, { text: 'remember this' })
  await expect.poll(async () => (await app.owner.client.agents.consciousness(nour.id)).cycles.length).toBe(1)
  const page = await app.open(app.owner, `/spaces/${quiet.id}?inspect=${nour.id}`)
  await page.getByRole('img', { name: /^Tokens: .* input, / }).waitFor()
  await page.getByRole('img', { name: /^Cost: / }).waitFor()
  const panel = page.getByRole('complementary')
  await panel.getByText(/\d+ tokens$/).click()
  await panel.getByRole('button', { name: 'View run' }).click()
  await panel.getByText('completed').waitFor()
})

test('a long list of people can be filtered by name', async () => {
  await Promise.all(Array.from({ length: 12 }, (_, n) => app.person(`Guest ${n}`)))
  const page = await app.open(app.owner, '/admin/people')
  const rows = page.getByRole('main').getByRole('link', { name: /Guest/ })
  await expect.poll(() => rows.count()).toBe(12)
  await page.getByRole('searchbox', { name: 'Search people and services' }).fill('guest 11')
  await expect.poll(() => rows.count()).toBe(1)
  await page.getByRole('searchbox', { name: 'Search people and services' }).fill('guest 99')
  await page.getByText('No results').waitFor()
})
