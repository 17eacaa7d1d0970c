/** Fetches all pages of a list; there can be thousands of agents. */

const PAGE = 1000

export async function allPages<Each extends { id: string }>(list: (page: { after?: string; limit: number }) => Promise<readonly Each[]>): Promise<Each[]> {
  const all: Each[] = []
  for (;;) {
    const last = all.at(-1)
    const page = await list({ limit: PAGE, ...(last ? { after: last.id } : {}) })
    all.push(...page)
    if (page.length < PAGE) return all
  }
}
