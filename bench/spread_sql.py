"""How far the counted answers of tasks differ, for all tasks at once; pipeline.disagreement writes it for one.

For protocols whose judgments are an answer alone; options of bivlc-choose are votes for one thing.
"""

SPREAD = """
WITH counted AS (
  SELECT slot.task_id, judgment.id, judgment.answer,
         stage.protocol = 'bivlc-choose' AND judgment.answer NOT IN ('none', 'cannot_judge') AS alike
  FROM annotation_slot slot JOIN annotation_judgment judgment ON judgment.id = slot.judgment_id
  JOIN annotation_task task ON task.id = slot.task_id JOIN annotation_stage stage ON stage.id = task.stage_id
  WHERE task.kind = 'judge'
), share AS (
  SELECT task_id, answer, alike, max(id) AS newest, count(*) / sum(count(*)) OVER (PARTITION BY task_id) AS p
  FROM counted GROUP BY task_id, answer, alike
), spread AS (
  SELECT task_id, max(newest) AS newest, round((-sum(p * ln(p) / ln(2.0)))::numeric, 6)::float8 AS entropy,
         count(DISTINCT CASE WHEN NOT alike THEN answer END) + bool_or(alike)::int AS kinds
  FROM share GROUP BY task_id HAVING count(*) > 1
), kind AS (
  SELECT task_id, count(*) AS n, max(count(*)) OVER (PARTITION BY task_id) AS most
  FROM counted GROUP BY task_id, CASE WHEN NOT alike THEN answer END
), undecided AS (
  SELECT task.id
  FROM (SELECT task_id, sum(n) AS n FROM kind GROUP BY task_id HAVING count(*) FILTER (WHERE n = most) > 1) tie
  JOIN annotation_task task ON task.id = tie.task_id AND tie.n >= task.overlap
  JOIN annotation_stage stage ON stage.id = task.stage_id WHERE stage.tie_rule = 'adjudicate'
)
UPDATE annotation_task task SET entropy = spread.entropy, newest = spread.newest,
       differs = CASE WHEN kinds > 1 THEN 'kind' ELSE 'option' END, waits = task.id IN (SELECT id FROM undecided)
FROM spread WHERE spread.task_id = task.id
"""
