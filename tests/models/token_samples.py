# ruff: noqa: E501
"""Texts, and how many tokens OpenAI's o200k makes of each (counted once with its vocabulary)."""

_ENGLISH = """Good morning! Could you send me the sales report before the meeting at ten? I need the figures of the
third quarter and the list of new customers. Thank you; I will come back to you in the afternoon, so that we can go
through the plan together. Yesterday the team discussed the release of the new version. We agreed to move the date by
one week, because the performance tests take longer than we had expected. Everyone should review the tasks that are
assigned to them and write their comments in the shared space before the end of the day."""
_ARABIC = """صباح الخير يا أحمد، هل يمكنك أن ترسل لي تقرير المبيعات قبل اجتماع الساعة العاشرة؟ أحتاج إلى الأرقام الخاصة
بالربع الثالث، وإلى قائمة العملاء الجدد. شكرا لك، وسأعود إليك بعد الظهر لنراجع الخطة معا. اجتمع فريق العمل أمس لمناقشة
إطلاق النسخة الجديدة من التطبيق، واتفقنا على تأجيل الموعد أسبوعا واحدا حتى ننتهي من اختبار الأداء. المطلوب الآن أن يراجع
كل عضو المهام المسندة إليه، وأن يكتب ملاحظاته في المساحة المشتركة قبل نهاية اليوم."""
_VOWELLED = """بِسْمِ اللَّهِ الرَّحْمَنِ الرَّحِيمِ الْحَمْدُ لِلَّهِ رَبِّ الْعَالَمِينَ الرَّحْمَنِ الرَّحِيمِ مَالِكِ يَوْمِ الدِّينِ"""
_CHINESE = """早上好，能不能请你在十点的会议之前把销售报告发给我？我需要第三季度的数据，还有新客户的名单。谢谢，下午我会再和你联系，
我们一起检查一下计划。昨天团队开会讨论了新版本的发布时间，大家同意把日期推迟一个星期，等性能测试全部完成以后再上线。现在请每位
成员检查自己的任务，并在今天下班之前把意见写到共享空间里。"""
_CODE = '''def first_shown(costs: Sequence[int], room: int) -> int:
    """The index of the first message in view."""
    start = taken = 0
    for end, cost in enumerate(costs):
        taken += cost
        if taken > room:
            while start < end and taken > room * 3 // 4:
                taken -= costs[start]
                start += 1
    return start


class Connection:
    def __init__(self, route: Route, reach: Reach, seconds: float) -> None:
        self._client: asyncio.Future[Client] = asyncio.get_running_loop().create_future()
        self._calls = 0
        self.task = asyncio.create_task(self._live(), name="mcp")
'''
_TIMELINE = """  [msg:msg_1m7phw7ke8ec4tr9] [2026-11-18T05:25:36.627Z] Husam (human, id:ent_1m7pg3zs0v5c2n4k): "Can you look at it?"  [SEEN]
  [msg:msg_1m7phx2qj5rb8d0w] [2026-11-18T05:25:41.118Z] Designer (agent, id:ent_1m7pg40a7hx9y3fe): "The chart is ready."  [SEEN]
  [msg:msg_1m7phyk0c4vn6tz2] [2026-11-18T05:26:02.904Z] Sarah (human, id:ent_1m7pg46rd1kq8s5j): "Thanks, I will check the numbers."  [NEW] ← TRIGGER
"""

SAMPLES = {
    "english": (_ENGLISH, 115),
    "arabic": (_ARABIC, 125),
    "vowelled arabic": (_VOWELLED, 67),
    "chinese": (_CHINESE, 101),
    "code": (_CODE, 157),
    "timeline": (_TIMELINE, 217),
}
