// Uses the playground as a reader does, and checks what it shows.
import assert from 'node:assert/strict'

export async function tryPlayground(page, address) {
  await page.goto(address, { waitUntil: 'load' })
  await page.waitForSelector('[data-ready="true"]')
  const states = async () =>
    Object.fromEntries(
      await page.$$eval('.key', (rows) =>
        rows.map((row) => [
          row.querySelector('code').textContent,
          row.querySelector('.badge').textContent,
        ]),
      ),
    )
  const untilState = (key, state) =>
    page.waitForFunction(
      ([name, word]) =>
        [...document.querySelectorAll('.key')].some(
          (row) =>
            row.querySelector('code').textContent === name &&
            row.querySelector('.badge').textContent === word,
        ),
      [key, state],
    )
  const untilTime = (text) =>
    page.waitForFunction((wanted) => document.querySelector('output').textContent === wanted, text)
  const press = (name) => page.getByRole('button', { name, exact: true }).click()

  assert.deepEqual(await states(), {
    'order/1': 'processing',
    'order/2': 'processing',
    'order/3': 'ready',
  })
  await press('Add again')
  await untilState('order/1', 'dirty')
  await press('Break the downstream')
  await page.getByRole('button', { name: 'Fix the downstream' }).waitFor()
  await press('+ 5 s')
  await press('+ 1 s')
  await press('+ 1 s')
  await untilTime('7 s')
  await untilState('order/2', 'backoff')
  await page.locator('.key', { hasText: 'order/2' }).locator('button').click()
  const why = page.locator('.sentence')
  await why.filter({ hasText: 'after 2 failures' }).waitFor()
  assert.match(await why.textContent(), /for .* s more, after 2 failures\. In .* s it is ready/)
  const conditions = await page.locator('.conditions').textContent()
  assert.match(conditions, /back-off for .* more, after 2 failures BACKOFF_ITEM/)
  await page.getByRole('img', { name: 'State of the key: backoff' }).waitFor()
  const later = await states()

  // Back to the start, and forward to the same moment: the same states.
  const slider = page.locator('input[type=range]')
  await move(slider, '0')
  // The time beside the slider moves with it, before the queue has gone back.
  await untilState('order/1', 'dirty')
  await untilTime('0 s')
  await move(slider, '7000')
  await untilTime('7 s')
  await untilState('order/2', 'backoff')
  assert.deepEqual(await states(), later)

  await press('Fix the downstream')
  await press('Run now')
  await untilState('order/2', 'ready')
  await move(slider, '40000')
  await page.getByText('every key is done').waitFor()
  await page.getByRole('textbox', { name: 'Key' }).fill('order/9')
  await press('Add in 5 s')
  await untilState('order/9', 'delayed')
}

async function move(slider, value) {
  await slider.evaluate((element, wanted) => {
    element.value = wanted
    element.dispatchEvent(new Event('input', { bubbles: true }))
    element.dispatchEvent(new Event('change', { bubbles: true }))
  }, value)
}
