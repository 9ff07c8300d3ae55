/* What the API takes and gives. Written by scripts/dashboard.sh from openapi.json: do not edit. */

export type paths = Record<string, never>;
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        /** @description ``url`` is where the job's progress is; ``job_id`` is the job's. */
        Accepted: {
            job: components["schemas"]["Job"];
            job_id: string;
            url: string;
        };
        AcknowledgeBody: {
            /** @default  */
            note?: string;
        };
        /**
         * @description ``auto`` keeps every arm that uses one CPU on the same one, so that no arm has the quieter CPU.
         * @enum {string}
         */
        Affinity: "auto" | "none";
        AgentItems: {
            items: components["schemas"]["AgentSummary"][];
        };
        /**
         * @description One agent over the whole suite: each score is the mean over its benchmarks.
         *
         *     ``passed`` and ``samples`` count executions, ``cases`` and ``scored`` cases; ``statuses`` counts executions by
         *     their end. Durations are seconds per case, over all benchmarks; money is US dollars. ``missing`` names the
         *     dimensions that are unknown in at least one benchmark; ``overall`` is then partial. ``known_cost_usd`` is what is
         *     known of the cost where ``cost_usd``, the whole of it, is not. ``not_measured`` are dimensions that no benchmark
         *     of the suite measures, by its ``metrics_measured``. ``by_scorer`` has what each scorer says, in the order of the
         *     rubrics; a scorer of several benchmarks is the mean over these. Of ``unanswered`` cases every try ended in an
         *     error: they are no part of the accuracy, and ``accuracy_of_all`` is what it is where they count as wrong, ``None``
         *     where there are none.
         */
        AgentStanding: {
            accuracy_of_all?: number | null;
            agent: string;
            /** @default [] */
            by_scorer?: components["schemas"]["ScorerMean"][];
            cases: number;
            cost_per_success_usd: number | null;
            cost_usd: number | null;
            duration_p95_s: number | null;
            duration_s: number | null;
            judge_cost_usd: number | null;
            known_cost_usd: number | null;
            /** @default [] */
            missing: string[];
            name: string;
            /** @default [] */
            not_measured?: string[];
            passed: number;
            samples: number;
            scored: number;
            scores: {
                [key: string]: components["schemas"]["ScoreEstimate"];
            };
            /** @default false */
            simulated: boolean;
            statuses: {
                [key: string]: number;
            };
            total_tokens: number | null;
            ttft_s: number | null;
            /** @default 0 */
            unanswered?: number;
            version: string;
        };
        /**
         * @description An agent over all its versions, the newest first; ``uid`` is of the newest. ``paid`` is ``None`` where only
         *     the store knows it. ``settings`` are those that a run may change, with their JSON types.
         *
         *     ``versions`` are those with results (the registered ones where there are none yet), ``registered_versions`` those
         *     that can be run here, the highest first: a version that is in the first list alone can only be looked at.
         *     ``name`` is what tells it from the other agents here, ``identity`` where it comes from; what has another identity
         *     is another agent. It is "" where only the registry knows it.
         */
        AgentSummary: {
            description: string;
            /** @default  */
            identity: string;
            last_attempt_at: number | null;
            last_success_at: number | null;
            name: string;
            paid: boolean | null;
            registered: boolean;
            /** @default [] */
            registered_versions: string[];
            settings: {
                [key: string]: string;
            };
            uid: string;
            versions: string[];
        };
        /**
         * @description An agent to put on the bench: a label, where it is, and its configuration.
         *
         *     ``uses`` is ``file.py@name``, ``module:attr``, a scheme (``cmd:``, ``stdio:``, ``openai:``, ``ollama:``,
         *     ``http(s):``) or the name of an installed agent. ``env`` are names of environment variables it may read; their
         *     values are never stored. ``base_dir`` is where relative paths start. ``version`` is ``None`` where nobody declared
         *     one. ``record`` says what is kept of its model calls, "" where the suite says that. ``python`` is the interpreter
         *     that a Python agent lives in, as the user wrote it; without one it is the bench's own.
         *
         *     ``identity`` is where it comes from, as ``model.naming`` writes it: what has the same one is versions of
         *     one agent. ``label`` is what it is called where that is not its name, because others are called so. ``at_version``
         *     is the version at which it took part in a run.
         */
        AgentUse: {
            /** @default  */
            at_version?: string;
            /** @default . */
            base_dir: string;
            config: {
                [key: string]: unknown;
            };
            /** @default  */
            description: string;
            /** @default [] */
            env: string[];
            /** @default  */
            identity?: string;
            /** @default  */
            label?: string;
            name: string;
            /** @default  */
            python?: string;
            /** @default  */
            record?: string;
            uses: string;
            version: string | null;
        };
        /** @description ``scores`` are its places on the matrix by version; ``results`` the newest execution of each benchmark. */
        AgentView: {
            agent: components["schemas"]["AgentSummary"];
            results: components["schemas"]["Execution"][];
            scores: components["schemas"]["MatrixEntry"][];
            suites: components["schemas"]["SuiteRun"][];
            versions: components["schemas"]["VersionView"][];
        };
        /** @description A regression that somebody should look at. ``alert_id`` stays the same while the finding does. */
        Alert: {
            acknowledged_at: number | null;
            /** @default  */
            acknowledged_by: string;
            agent: string;
            alert_id: string;
            /** @default  */
            baseline_run_id: string;
            /** @default  */
            note: string;
            regression: components["schemas"]["Regression"];
            /** @default  */
            run_id: string;
            suite_id: string;
        };
        AlertItems: {
            items: components["schemas"]["Alert"][];
        };
        /**
         * @description Three or more agents: every pair, Holm's correction over the families of all pairs together.
         *
         *     ``wins`` counts pairs in which an agent is the winner. ``winner`` beats, or is not beaten by, every other and
         *     wins at least once; ``None`` with the reason in ``why``. ``cases`` are those on which the agents disagree first.
         */
        AllAgainstAll: {
            agents: string[];
            /** @default [] */
            cases: components["schemas"]["CaseScores"][];
            duels: components["schemas"]["Duel"][];
            suite: string;
            /** @default [] */
            warnings: components["schemas"]["RunWarning"][];
            why: string;
            winner: string | null;
            wins: {
                [key: string]: number;
            };
        };
        /**
         * @description One execution of a case. ``tokens`` are in and out together; ``output`` is any JSON value, or text where
         *     ``output_cut``. ``scoring`` is what each scorer said, ``attempts`` counts calls, retries included.
         */
        Answer: {
            agent: string;
            arm_id: string;
            /** @default 1 */
            attempts: number;
            benchmark: string;
            /** @default false */
            cached: boolean;
            cost_usd: number | null;
            duration_s: number | null;
            events: components["schemas"]["Event"][];
            failure: components["schemas"]["Failure"] | null;
            iteration: number;
            output: unknown;
            output_cut: boolean;
            readings: {
                [key: string]: number;
            };
            score: number | null;
            scores: {
                [key: string]: number | null;
            };
            /** @default [] */
            scoring: unknown[];
            /** @default false */
            simulated: boolean;
            started_at_ms: number;
            status: components["schemas"]["Status"];
            tokens: number | null;
            usage: {
                [key: string]: number;
            };
        };
        /**
         * @description What a person says of one answer. ``agent`` is NAME@VERSION, ``iteration`` the epoch as samples count it;
         *     ``who`` is the name of a key, "local" or what was typed; ``at`` UTC milliseconds.
         */
        AnswerMark: {
            agent: string;
            at: number;
            benchmark: string;
            case_id: string;
            is_right: boolean;
            iteration: number;
            /** @default  */
            note: string;
            run_id: string;
            who: string;
        };
        /** @description A key as it is listed: the secret itself is never kept, ``prefix`` is its beginning, to recognise it by. */
        ApiKey: {
            created_at: number;
            key_id: string;
            last_used_at: number | null;
            name: string;
            prefix: string;
            revoked_at: number | null;
            scope: components["schemas"]["Scope"];
        };
        /** @description Two arms with the same experiment and parameters (``differing`` names those that differ on purpose). */
        ArmComparison: {
            baseline_arm_id: string;
            candidate_arm_id: string;
            differing: {
                [key: string]: [
                    unknown,
                    unknown
                ];
            };
            /** @default [] */
            metrics: components["schemas"]["MetricComparison"][];
            name: string;
            params: {
                [key: string]: unknown;
            };
        };
        /**
         * @description ``name`` is what a history is asked for by, ``label`` tells arms apart: with the parameters where the name has
         *     none.
         */
        ArmLabel: {
            label: string;
            name: string;
        };
        /**
         * @description One arm: what it was asked to be, what it was observed to be, and what was measured.
         *
         *     ``scores``, ``case_figures`` and ``totals`` (sums of ``duration_s``, ``total_tokens``, ``api_calls``,
         *     ``cost_usd`` over measured samples, left out where unknown) are an agent's, in a suite. ``score_errors`` are the
         *     standard errors of the scores, from drawing the cases again; left out where too few cases tell. ``spread``
         *     says how they move together. ``entry`` is the name of the experiment in a spec of several, where it has one.
         */
        ArmResult: {
            agent: string | null;
            arm_id: string;
            /** @default [] */
            artifacts: components["schemas"]["Artifact"][];
            benchmark: string | null;
            case_figures: components["schemas"]["CaseFigures"] | null;
            /** @default  */
            entry?: string;
            experiment: string;
            metrics: {
                [key: string]: components["schemas"]["MetricSummary"];
            };
            name: string;
            observed: {
                [key: string]: unknown;
            };
            params: {
                [key: string]: unknown;
            };
            /** @default 0 */
            planned: number;
            /** @default [] */
            samples: components["schemas"]["Sample"][];
            /** @default 0 */
            samples_total: number;
            score_errors: {
                [key: string]: number;
            };
            scores: {
                [key: string]: number | null;
            };
            side: components["schemas"]["Side"] | null;
            spread: components["schemas"]["ScoreSpread"] | null;
            statuses: {
                [key: string]: number;
            };
            totals: {
                [key: string]: number;
            };
        };
        /**
         * @description One agent in one benchmark. ``scores`` has the five dimensions and ``overall``; ``scored`` counts cases, and
         *     ``unanswered`` those of which every try ended in an error.
         */
        ArmStanding: {
            agent: string;
            arm_id: string;
            benchmark: string;
            /** @default [] */
            by_scorer?: components["schemas"]["ScorerMean"][];
            cases: number;
            passed: number;
            samples: number;
            scored: number;
            scores: {
                [key: string]: components["schemas"]["ScoreEstimate"];
            };
            /** @default false */
            simulated: boolean;
            /** @default 0 */
            unanswered?: number;
        };
        /** @description A file of the run, by its path below the run's folder. */
        Artifact: {
            /** @default application/octet-stream */
            media_type: string;
            name: string;
            path: string;
            size_bytes: number;
        };
        ArtifactItems: {
            items: components["schemas"]["Artifact"][];
        };
        /** @description Who did what. ``who`` is the name of a key, or "local"; ``number`` counts entries, once the store has it. */
        AuditEntry: {
            action: string;
            at: number;
            details: {
                [key: string]: unknown;
            };
            number: number | null;
            subject: string;
            who: string;
        };
        /** @description Newest first; ``next`` is the cursor of the following page. */
        AuditPage: {
            items: components["schemas"]["AuditEntry"][];
            next: string | null;
        };
        /** @description Measure until the 95 % interval of the median is within ``precision`` of it, in every arm. */
        AutoStop: {
            /** @default 500 */
            maximum: number;
            /** @default 10 */
            minimum: number;
            /** @default 0.02 */
            precision: number;
        };
        /**
         * @description What one figure of an arm means. ``band`` names the question (``latency_p95``), ``label`` the answer in a word.
         *
         *     ``value`` is ``figure`` (median, p95, cv, …) of ``metric``, in ``unit``; ``None`` where it was never reached.
         *     ``threshold`` is the limit that it was held against last, and ``n`` counts samples.
         */
        BandFinding: {
            arm: string;
            arm_id: string;
            band: string;
            figure: string;
            label: string;
            level: components["schemas"]["BandLevel"];
            metric: string;
            n: number;
            sentence: string;
            threshold: number;
            unit: string;
            value: number | null;
        };
        /**
         * @description ``poor`` is a red flag; ``fair`` is neither good nor one.
         * @enum {string}
         */
        BandLevel: "good" | "fair" | "poor";
        /** @description ``agent_id`` may name a version; without one the newest becomes the baseline. */
        BaselineBody: {
            agent_id: string;
            /**
             * @description Also runs that were quick, limited, cancelled or capped; they are marked
             * @default false
             */
            include_partial?: boolean;
            /** @default  */
            note?: string;
            suite_id?: string | null;
        };
        BaselineItems: {
            items: components["schemas"]["BaselineRow"][];
        };
        /**
         * @description What an agent's later versions are held against in a suite, whichever version of the suite that is.
         *
         *     ``version`` is the agent's; ``run_id`` is "" where the newest run of that version is meant.
         */
        BaselineRow: {
            agent: string;
            /** @default  */
            note: string;
            /** @default  */
            run_id: string;
            /** @default 0 */
            set_at: number;
            suite_id: string;
            version: string;
            /** @default default */
            workspace: string;
        };
        /** @description Scores that a named agent is known to have, by dimension. */
        BaselineScores: {
            agent_id: string;
            scores: {
                [key: string]: number;
            };
        };
        /**
         * @description One benchmark of a suite; its id follows from its name unless given.
         *
         *     ``epochs`` and ``warmup`` are ``None`` where the suite's count.
         */
        Benchmark: {
            /** @default  */
            benchmark_id: string;
            cases: components["schemas"]["Case"][];
            /** @default comprehensive */
            category: components["schemas"]["Category"];
            /** @default medium */
            complexity: components["schemas"]["Complexity"];
            constraints: components["schemas"]["Constraints"];
            /** @default inline */
            data_source: string;
            /** @default  */
            description: string;
            epochs: number | null;
            /** @default [] */
            metrics_measured: string[];
            name: string;
            rubric: components["schemas"]["Rubric"];
            /** @default synthetic */
            test_type: components["schemas"]["TestType"];
            warmup: number | null;
        };
        /** @description ``metrics_measured`` is as written, empty where nothing was named; ``dimensions`` are those that are scored. */
        BenchmarkView: {
            benchmark_id: string;
            cases: number;
            category: string;
            complexity: string;
            constraints: components["schemas"]["LimitsView"];
            dataset: components["schemas"]["DatasetView"];
            description: string;
            dimensions: string[];
            metrics_measured: string[];
            name: string;
            scoring_rubric: components["schemas"]["Rubric"];
            test_type: string;
        };
        /**
         * @description What a board is made of: like is compared with like.
         *
         *     ``suites`` are ids, one unless the board is across suites; ``other_suites`` have results, too. ``not_shared`` are
         *     agents that are left out because they did not run all of ``suites``. ``includes_partial``: runs that were quick,
         *     limited or cut short are in it; else ``left_out`` counts their executions in the window. ``unknown_form`` counts
         *     executions in it of which nobody can tell, because they were recorded before that was kept or by another tool.
         *     ``older_version`` names agents of which there are only results of other versions of the suite. ``recorded`` names
         *     agents (``name@version``) whose model calls went through the recording proxy in their last success in a benchmark,
         *     where those of others on the board did not: their times are longer by what the proxy takes.
         */
        BoardScope: {
            /** @default false */
            includes_partial: boolean;
            /** @default 0 */
            left_out: number;
            /** @default [] */
            not_shared: string[];
            /** @default [] */
            older_version: string[];
            /** @default [] */
            other_suites: string[];
            /** @default [] */
            recorded: string[];
            /** @default [] */
            suites: string[];
            /** @default 0 */
            unknown_form: number;
        };
        /**
         * @description Something that the critical path spends time in. ``share`` is ``impact_ms`` of ``basis_ms``, the mean wall time
         *     of an execution.
         */
        Bottleneck: {
            basis_ms: number;
            calls: number;
            cause: string;
            /** @default [] */
            evidence: string[];
            executions: number;
            impact_ms: number;
            location: string;
            optimization_suggestion: string;
            phase: components["schemas"]["ProfilePhase"];
            share: number;
        };
        /**
         * @description Where the objectives are first missed, on ``axis``: ``rate`` (requests a second), ``concurrency``, ``size``
         *     (words of input), ``memory`` (bytes left). ``held`` is the highest level that met them, ``broke`` the lowest that
         *     did not; the truth is between the two (``interval``). ``value`` is the best guess.
         */
        BreakingPoint: {
            axis: string;
            broke: number | null;
            held: number | null;
            interval: [
                number,
                number
            ] | null;
            /** @default  */
            objective: string;
            unit: string;
            value: number;
        };
        /**
         * @description ``input`` is a text, a list of chat messages (``{"role": …, "content": …}``) or any JSON value.
         *
         *     ``turns`` are the user's messages of a conversation, one after the other; ``input`` is then the first of them.
         *     Cases that share a ``group`` are related (paraphrases of one question, questions about one document) and count
         *     as one cluster in statistics.
         */
        Case: {
            group: string | null;
            id: string;
            input: unknown;
            metadata: {
                [key: string]: unknown;
            };
            target: unknown;
            /** @default [] */
            turns: string[];
        };
        /**
         * @description An agent's cases in one benchmark; ``mean`` and ``variance`` are of the case scores, epochs reduced first.
         *
         *     ``scored`` cases have a score (errors have none); ``passed`` and ``samples`` count executions.
         */
        CaseFigures: {
            cases: number;
            mean: number | null;
            passed: number;
            samples: number;
            scored: number;
            variance: number | null;
        };
        /** @description ``columns`` are agents with their versions: those of one agent from the lowest on, or each agent's newest. */
        CaseGrid: {
            columns: string[];
            rows: components["schemas"]["GridRow"][];
            suite_id: string;
            suite_name: string;
        };
        /** @description A case of a suite: ids are unique within a benchmark. */
        CaseKey: {
            benchmark: string;
            case_id: string;
        };
        /** @description One case under every agent; ``None`` where an agent has no score. ``disagree``: some pass and some do not. */
        CaseScores: {
            disagree: boolean;
            key: components["schemas"]["CaseKey"];
            scores: {
                [key: string]: number | null;
            };
        };
        /** @description A case and every answer to it in one run, agent by agent, epoch by epoch. */
        CaseView: {
            answers: components["schemas"]["Answer"][];
            benchmark: string;
            case: components["schemas"]["Case"];
            run_id: string;
        };
        /** @enum {string} */
        Category: "speed" | "accuracy" | "cost" | "reliability" | "scalability" | "comprehensive";
        /**
         * @description One agent in one suite: the newest version against its baseline.
         *
         *     ``verdict`` is ``worse``, ``better``, ``same``, ``inconclusive`` or ``no-baseline``; ``summary`` the sentence to
         *     read. ``accuracy``, ``latency`` and ``cost`` are rows over the common cases, ``None`` without a baseline.
         *     ``latency_p95`` gives p95 seconds of baseline and candidate. ``since`` is the version with which it became so.
         *     ``spark`` is the history of what the verdict rests on where that has enough points, else of accuracy, at most 30
         *     points.
         *     ``severity`` goes with ``worse``. ``error_rate`` is judged beside the others where a side had errors. ``errors``
         *     are of the newest version, the most frequent first. ``more_cases`` would settle what is inconclusive, ``None``
         *     where that cannot be said. ``command`` is the one that prints the same.
         *
         *     ``evidence`` says what the verdict rests on: ``cases`` that both versions answered, the ``history`` of the agent
         *     where there is no baseline to set it against case by case, or "" where there is neither. ``finding`` is what the
         *     history shows: what the verdict rests on where the evidence is that; beside ``cases`` a change for the worse that
         *     these two versions do not show, of which there is an alert. ``reliability`` is a row as the others, ``None`` where
         *     it does not compare (it takes three tries of a case). ``steady_broken`` cases were seen to be right in every try
         *     of the baseline and wrong in every one now.
         */
        ChangeRow: {
            accuracy: components["schemas"]["PairedRow"] | null;
            agent: string;
            baseline: string;
            /** @default  */
            baseline_run_id: string;
            /** @default [] */
            broken: components["schemas"]["CaseKey"][];
            /** @default  */
            command: string;
            cost: components["schemas"]["PairedRow"] | null;
            error_rate: components["schemas"]["PairedRow"] | null;
            /** @default [] */
            errors: components["schemas"]["ErrorClass"][];
            /**
             * @default
             * @enum {string}
             */
            evidence: "cases" | "history" | "";
            finding: components["schemas"]["Regression"] | null;
            finished_at: number;
            /** @default [] */
            fixed: components["schemas"]["CaseKey"][];
            latency: components["schemas"]["PairedRow"] | null;
            /**
             * @default [
             *       null,
             *       null
             *     ]
             */
            latency_p95: [
                number | null,
                number | null
            ];
            more_cases: number | null;
            name: string;
            reliability: components["schemas"]["PairedRow"] | null;
            run_id: string;
            severity: components["schemas"]["Severity"] | null;
            /** @default  */
            since: string;
            spark: components["schemas"]["History"] | null;
            /** @default [] */
            steady_broken: components["schemas"]["CaseKey"][];
            suite_id: string;
            suite_name: string;
            summary: string;
            /** @enum {string} */
            verdict: "worse" | "inconclusive" | "better" | "same" | "no-baseline";
            version: string;
        };
        /**
         * @description Rows with the worst first, and how many there are of each verdict.
         *
         *     ``spent_today_usd`` is the sum of what is known of the executions since midnight (UTC), ``None`` where nothing is;
         *     ``unpriced_today`` counts those whose cost is not known. ``runs_today`` counts runs. ``quiet`` is the sentence for
         *     when nothing is worse, "" otherwise.
         */
        Changes: {
            counts: {
                [key: string]: number;
            };
            /** @default  */
            quiet: string;
            rows: components["schemas"]["ChangeRow"][];
            /** @default 0 */
            runs_today: number;
            spent_today_usd: number | null;
            /** @default 0 */
            unpriced_today: number;
        };
        Cleared: {
            cleared: number;
        };
        /** @description ``head_to_head`` takes two agents, the first is the baseline; ``matrix`` sets each against each. */
        CompareBody: {
            agent_ids: string[];
            /** @default head_to_head */
            comparison_type?: components["schemas"]["ComparisonType"];
            /** @default null */
            suite_id?: string | null;
        };
        /**
         * @description One of ``duel`` and ``tournament`` is there. ``simulated`` lists agents whose answers were simulated.
         *
         *     Of a duel ``detailed_metrics`` has the five dimensions, ``statistical_significance`` their p-values after
         *     correction (``None`` where there is no test), and ``category_winners`` who is better in benchmarks of a category.
         */
        Compared: {
            category_winners: {
                [key: string]: string | null;
            };
            /** @default [] */
            detailed_metrics: components["schemas"]["DimensionComparison"][];
            duel: components["schemas"]["Duel"] | null;
            overall_winner: string | null;
            /** @default [] */
            recommendations: string[];
            /** @default [] */
            simulated: string[];
            statistical_significance: {
                [key: string]: number | null;
            };
            tournament: components["schemas"]["AllAgainstAll"] | null;
            type: components["schemas"]["ComparisonType"];
        };
        /** @description Baseline against candidate. ``paired`` when both sides ran interleaved in one run. */
        Comparison: {
            arms: components["schemas"]["ArmComparison"][];
            baseline: string;
            candidate: string;
            noise_floor: number | null;
            /** @default [] */
            only_in_baseline: string[];
            /** @default [] */
            only_in_candidate: string[];
            paired: boolean;
            /** @default [] */
            warnings: components["schemas"]["RunWarning"][];
        };
        /** @enum {string} */
        ComparisonType: "head_to_head" | "matrix";
        /** @enum {string} */
        Complexity: "low" | "medium" | "high" | "extreme";
        /**
         * @description One configuration of a sweep. ``efficiency`` is 0..1: its performance per dollar in parts of the best one that
         *     is not significantly worse in accuracy; ``optimal`` above 0.8, unless it is significantly worse itself.
         *     ``savings_usd`` is against ``against``, for the stated volume; ``None`` where it cannot be said.
         */
        ConfigurationRow: {
            /** @default  */
            against: string;
            agent: string;
            configuration: {
                [key: string]: unknown;
            };
            efficiency: number | null;
            /** @default  */
            evidence: string;
            optimal: boolean;
            savings_usd: number | null;
        };
        /** @description What one case (or, in ``Suite.constraints``, the whole run) may use; ``None`` is no limit. */
        Constraints: {
            cost_limit_usd: number | null;
            memory_limit_bytes: number | null;
            time_limit_s: number | null;
            token_limit: number | null;
        };
        /** @description ``volume`` is the number of tasks that savings are stated for. */
        CostReport: {
            /** @default [] */
            benchmark_rows: components["schemas"]["CostRow"][];
            /** @default [] */
            configurations: components["schemas"]["ConfigurationRow"][];
            /** @default [] */
            opportunities: components["schemas"]["Opportunity"][];
            rows: components["schemas"]["CostRow"][];
            suite: string;
            volume: number;
            warnings: components["schemas"]["RunWarning"][];
        };
        /**
         * @description One agent, over the suite or (``benchmark``) in one benchmark. Money is US dollars.
         *
         *     ``cost_per_success_usd`` is ``None`` where the cost is not known and where the agent ``never_succeeded``.
         *     ``performance_per_dollar`` is accuracy × speed score (accuracy alone where speed has no score: ``performance``
         *     says which) per dollar and task. On each frontier: whether no other agent is both cheaper and better, and how
         *     often that is so when the cases are drawn again; ``None`` where it cannot be said. ``total_tokens`` is ``None``
         *     where those of a task are not known; ``known_tokens`` are those of the ``counted`` tasks, where they are.
         */
        CostRow: {
            accuracy: number | null;
            accuracy_frontier_probability: number | null;
            agent: string;
            benchmark: string;
            cost_interval: [
                number,
                number
            ] | null;
            cost_per_success_usd: number | null;
            cost_per_task_usd: number | null;
            cost_usd: number | null;
            /** @default 0 */
            counted: number;
            duration_s: number | null;
            known_tokens: number | null;
            latency_frontier_probability: number | null;
            never_succeeded: boolean;
            on_accuracy_frontier: boolean | null;
            on_latency_frontier: boolean | null;
            /** @default  */
            performance: string;
            performance_per_dollar: number | null;
            /** @default false */
            simulated: boolean;
            successes: number;
            tasks: number;
            total_tokens: number | null;
        };
        /** @description Of the ``agents`` known (the newest version of each), ``fresh`` were benchmarked within ``days`` days. */
        Coverage: {
            agents: number;
            days: number;
            fresh: number;
            stale: components["schemas"]["StaleAgent"][];
        };
        /** @description One step: the level asked, and what came of it. Times in seconds, null where nothing succeeded. */
        CurvePoint: {
            asked_per_s: number;
            /** @default false */
            client_limited: boolean;
            delivered_per_s: number;
            error_rate: number;
            goodput_per_s: number | null;
            latency_p50_s: number | null;
            latency_p95_s: number | null;
            latency_p99_s: number | null;
            level: number;
            met: boolean | null;
            step: string;
            throughput_per_s: number;
            ttft_p50_s: number | null;
            ttft_p95_s: number | null;
        };
        DatasetView: {
            complexity: string;
            data_source: string;
            size: number;
        };
        /** @description A number that ``execute_once`` returns, given a unit and a direction so that it can be judged. */
        DeclaredMetric: {
            /** @default unknown */
            direction: string;
            /** @default  */
            unit: string;
        };
        /**
         * @description ``version`` set a version against a baseline, ``history`` saw a level change, ``pattern`` many small signs.
         * @enum {string}
         */
        Detector: "version" | "history" | "pattern";
        /**
         * @description One dimension of agent A (the baseline) and B: scores are in 0..1, ``None`` where there is none.
         *
         *     ``winner`` is ``None`` where the difference may be chance: a larger number alone makes no winner.
         */
        DimensionComparison: {
            agent_a_score: number | null;
            agent_b_score: number | null;
            difference: number | null;
            metric: string;
            percentage_difference: number | null;
            winner: string | null;
        };
        /**
         * @description Which way is better. A metric whose direction is unknown is shown and never judged.
         * @enum {string}
         */
        Direction: "higher" | "lower" | "unknown";
        /** @description ``divergence`` is the index of the first step that differs, ``None`` where the trajectories are equal. */
        DivergenceView: {
            benchmark: string;
            case: components["schemas"]["Case"];
            divergence: number | null;
            first: components["schemas"]["Answer"];
            second: components["schemas"]["Answer"];
        };
        /**
         * @description Baseline against candidate.
         *
         *     ``rows`` are the five dimensions and ``overall`` over the whole suite, and the error rate where an execution ended
         *     in an error: accuracy is corrected together with the error rate, the others with each other.
         *     ``benchmark_rows`` are the dimensions per benchmark, another family. ``winner`` is an agent's label or ``None``,
         *     and ``why`` says why in either case: accuracy, the error rate, reliability, cost and time decide it.
         *     ``category_winners`` gives per category of benchmarks the agent that is better there. ``flips`` is the accuracy
         *     case by case.
         *     Recommendations cite the numbers they rest on.
         *     ``baseline_runs`` and ``candidate_runs`` give by benchmark the id of the run that a side's answers are of.
         *     ``steady_broken`` cases were seen to be right in every try of the baseline and wrong in every one of the
         *     candidate, ``steady_fixed`` ones the other way round.
         */
        Duel: {
            baseline: string;
            baseline_runs: {
                [key: string]: string;
            };
            benchmark_rows: components["schemas"]["PairedRow"][];
            candidate: string;
            candidate_runs: {
                [key: string]: string;
            };
            category_winners: {
                [key: string]: string | null;
            };
            dimension_winners: {
                [key: string]: string | null;
            };
            flips: components["schemas"]["HeadToHead"];
            /** @default true */
            paired: boolean;
            /** @default [] */
            recommendations: string[];
            rows: components["schemas"]["PairedRow"][];
            /** @default [] */
            steady_broken: components["schemas"]["CaseKey"][];
            /** @default [] */
            steady_fixed: components["schemas"]["CaseKey"][];
            suite: string;
            /** @default [] */
            warnings: components["schemas"]["RunWarning"][];
            why: string;
            winner: string | null;
        };
        /** @enum {string} */
        Effort: "low" | "medium" | "high";
        /** @description One experiment of a spec with its parameters and sweep; ``name`` is its own in a file of several, or empty. */
        Entry: {
            experiment: string;
            iterations: components["schemas"]["Iterations"];
            /** @default  */
            name?: string;
            params: {
                [key: string]: unknown;
            };
            samples: number | null;
            /** @default cartesian */
            strategy: components["schemas"]["Strategy"];
            sweep: {
                [key: string]: unknown[];
            };
        };
        /**
         * @description The machine and the interpreter. No hostname, no user, and no variable outside a short list.
         *
         *     ``machine_id`` is shared by machines that are alike; ``host_id`` is random and this one's own, "" where it is not
         *     known.
         */
        Environment: {
            agentdyno: string;
            cpu_count: number;
            cpu_model: string;
            details: {
                [key: string]: unknown;
            };
            /** @default  */
            host_id?: string;
            implementation: string;
            kernel: string;
            machine_id: string;
            memory_bytes: number;
            os: string;
            packages: {
                [key: string]: string;
            };
            python: string;
            variables: {
                [key: string]: string;
            };
        };
        /**
         * @description Failures that are alike: their status, ``Failure.kind`` ("" for a wrong answer, "scorer" for an answer on which
         *     a scorer raised) and their message, what varies in it left out. ``example`` is the first of them as it was;
         *     ``cases`` are the first few it met.
         */
        ErrorClass: {
            /** @default [] */
            cases: string[];
            count: number;
            /** @default  */
            example: string;
            kind: string;
            message: string;
            status: string;
        };
        /**
         * @description One step of a trajectory; ``at_s`` counts from the start of the case.
         *
         *     ``kind`` is ``message`` (``name`` is the role), ``tool_call`` (``name`` is the tool, ``content`` its arguments),
         *     ``tool_result``, ``model_call`` (``name`` is the model that answered; ``details`` holds usage and timings, and
         *     ``recorded`` where the recording proxy saw it: see ``counted_calls``),
         *     ``retrieval``, ``step`` (of a workflow), ``span`` (any other piece of work), ``wait`` (a pause before another
         *     try), ``queue`` (time before work began), ``retry`` or ``note``.
         *
         *     An event with a ``duration_s`` is a span. Where it is known what it belongs to, ``details["span"]`` is its id and
         *     ``details["parent"]`` that of the span around it, both unique within the case; where they are missing, an event
         *     belongs to the shortest span that contains it in time.
         */
        Event: {
            /** @default 0 */
            at_s: number;
            content: unknown;
            details: {
                [key: string]: unknown;
            };
            duration_s: number | null;
            kind: string;
            /** @default  */
            name: string;
        };
        /**
         * @description One benchmark executed by one agent: a row of ``executions``. What is not known is ``None``.
         *
         *     ``suite`` is the digest of the suite's version. ``run_id`` and ``arm_id`` are empty for rows that came from
         *     outside; ``uid`` is given by the store where it is empty. ``status`` is ``success`` (every planned sample is
         *     recorded), ``partial`` or ``failed`` (none is usable). ``tokens_used``, ``api_calls``, ``cpu_s``, ``duration_s``
         *     and ``cost_usd`` are sums over the executions of all cases; ``attempts`` counts calls, retries included.
         *     ``accuracy_error`` and the like are standard errors of the scores. ``form`` is that of its run (``model.form``).
         */
        Execution: {
            accuracy: number | null;
            accuracy_error: number | null;
            agent: string;
            agent_version: string;
            api_calls: number | null;
            /** @default  */
            arm_id: string;
            attempts: number | null;
            benchmark: string;
            case_mean: number | null;
            case_variance: number | null;
            cases: number | null;
            /** @default  */
            category: string;
            completeness: number | null;
            correctness: number | null;
            cost: number | null;
            cost_error: number | null;
            cost_usd: number | null;
            cpu_s: number | null;
            created_at: number;
            duration_s: number | null;
            efficiency: number | null;
            efficiency_error: number | null;
            error_details: string | null;
            finished_at: number | null;
            /** @default unknown */
            form: string;
            memory_peak_bytes: number | null;
            overall: number | null;
            passed: number | null;
            relevance: number | null;
            reliability: number | null;
            reliability_error: number | null;
            /** @default  */
            run_id: string;
            samples: number | null;
            scored: number | null;
            /** @default false */
            simulated: boolean;
            speed: number | null;
            speed_error: number | null;
            started_at: number | null;
            /** @default success */
            status: string;
            suite: string;
            tokens_used: number | null;
            /** @default  */
            uid: string;
            /** @default default */
            workspace: string;
        };
        /** @description The columns of the view ``benchmark_executions``, but for the two that compare with others. */
        ExecutionItem: {
            accuracy: number | null;
            accuracy_error: number | null;
            accuracy_score: number | null;
            agent: string;
            /** @default  */
            agent_id: string;
            agent_version: string;
            api_calls: number | null;
            api_calls_made: number | null;
            /** @default  */
            arm_id: string;
            attempts: number | null;
            benchmark: string;
            /** @default  */
            benchmark_id: string;
            case_mean: number | null;
            case_variance: number | null;
            cases: number | null;
            /** @default  */
            category: string;
            completeness: number | null;
            correctness: number | null;
            cost: number | null;
            cost_error: number | null;
            cost_score: number | null;
            cost_usd: number | null;
            cpu_s: number | null;
            cpu_usage_percent: number | null;
            created_at: number;
            duration_s: number | null;
            efficiency: number | null;
            efficiency_error: number | null;
            efficiency_score: number | null;
            end_time: string | null;
            error_details: string | null;
            finished_at: number | null;
            /** @default unknown */
            form: string;
            /** @default  */
            id: string;
            memory_peak_bytes: number | null;
            memory_peak_mb: number | null;
            output_completeness: number | null;
            output_correctness: number | null;
            output_relevance: number | null;
            overall: number | null;
            passed: number | null;
            relevance: number | null;
            reliability: number | null;
            reliability_error: number | null;
            reliability_score: number | null;
            /** @default  */
            run_id: string;
            samples: number | null;
            scored: number | null;
            /** @default false */
            simulated: boolean;
            speed: number | null;
            speed_error: number | null;
            speed_score: number | null;
            start_time: string | null;
            started_at: number | null;
            /** @default success */
            status: string;
            suite: string;
            /** @default  */
            suite_id: string;
            tokens_used: number | null;
            total_duration_ms: number | null;
            /** @default  */
            uid: string;
            /** @default default */
            workspace: string;
        };
        /** @description Milliseconds are means per execution. ``critical_ms`` is the part on the critical path. */
        ExecutionPhase: {
            busy_ms: number;
            critical_ms: number;
            duration_ms: number;
            percentage_of_total: number | null;
            phase_name: string;
            resource_usage: components["schemas"]["ResourceUsage"];
            spans: number;
        };
        /** @description An experiment with its arms; one that has a single arm has a history under its own name, too. */
        ExperimentArms: {
            arms: components["schemas"]["ArmLabel"][];
            experiment: string;
        };
        /** @description A case that an agent did not pass in ``bad`` of ``tries`` executions; ``got`` and ``why`` are of the first. */
        FailedCase: {
            agent: string;
            bad: number;
            benchmark: string;
            case_id: string;
            got: string;
            status: string;
            tries: number;
            want: string;
            /** @default  */
            why: string;
        };
        /** @description A failure is a record. ``where`` is the stage: load, setup, warmup, execute or teardown. */
        Failure: {
            kind: components["schemas"]["FailureKind"];
            message: string;
            output_tail: string | null;
            traceback: string | null;
            /** @default execute */
            where: string;
        };
        /**
         * @description How a sample failed. The first nine go with status ``error``, the last four with ``limit``.
         * @enum {string}
         */
        FailureKind: "exception" | "exit" | "signal" | "serialisation" | "http_error" | "stream_error" | "truncated" | "reset" | "rate_limited" | "timeout" | "memory" | "output" | "tokens" | "cost";
        /** @description ``field`` is the path of the value: ``body.agent_id``, ``query.limit``. */
        FieldProblem: {
            field: string;
            message: string;
        };
        /**
         * @description ``result`` is the run without its samples, ``None`` where the job ended before it began.
         *
         *     ``job_id`` and ``run_id`` ("" without a run) are the job's.
         */
        Finished: {
            job: components["schemas"]["Job"];
            job_id: string;
            result: components["schemas"]["RunResult"] | null;
            run_id: string;
        };
        /**
         * @description Amdahl's law or the universal scalability law, fitted. ``contention`` (sigma, the serial share) and
         *     ``coherency`` (kappa) with 95 % intervals; ``peak`` is the concurrency of most throughput, null without one.
         */
        FittedLaw: {
            coherency: number;
            coherency_interval: [
                number,
                number
            ] | null;
            contention: number;
            contention_interval: [
                number,
                number
            ] | null;
            law: string;
            peak: number | null;
            /** @default [] */
            points: [
                number,
                number
            ][];
            r_squared: number | null;
            single: number;
        };
        /**
         * @description ``name`` is what was found, ``note`` tells it from others of that name.
         *
         *     A run has its ``run_id``; a case the ``suite_id`` that it is in and its ``benchmark``; a suite its ``suite_id``.
         */
        FoundThing: {
            /** @default  */
            benchmark: string;
            /** @enum {string} */
            kind: "agent" | "suite" | "run" | "case" | "tag";
            name: string;
            /** @default  */
            note: string;
            /** @default  */
            run_id: string;
            /** @default  */
            suite_id: string;
        };
        /** @description Agents, suites, runs, cases and tags, in this order, at most eight of each. */
        FoundThings: {
            items: components["schemas"]["FoundThing"][];
        };
        /**
         * @description ``normal`` leaves the collector alone, ``off`` stops it while timing, ``collect`` also collects before.
         * @enum {string}
         */
        GcPolicy: "normal" | "off" | "collect";
        /** @description What one agent made of one case: ``passed`` of ``tries``, its mean ``score`` and how the tries ended. */
        GridCell: {
            passed: number;
            run_id: string;
            score: number | null;
            statuses: {
                [key: string]: number;
            };
            tries: number;
        };
        /**
         * @description One case; ``cells`` in the order of the columns, ``None`` where it was not tried.
         *
         *     ``flips`` counts neighbouring cells of which one was passed in most tries and the other was not. ``input`` is its
         *     beginning, as text.
         */
        GridRow: {
            benchmark: string;
            case_id: string;
            cells: (components["schemas"]["GridCell"] | null)[];
            flips: number;
            group: string | null;
            input: string;
        };
        /**
         * @description Two agents on the same cases, the unit being the case.
         *
         *     ``difference`` is the candidate's mean case score less the baseline's, with its 95 % ``interval``; ``fixed`` cases
         *     only the candidate gets right, ``broken`` ones only the baseline, those that changed most first. ``detectable`` is
         *     the smallest difference that this many cases would show 8 times in 10. ``clusters`` counts independent groups of
         *     cases; with one there is neither interval nor p-value. ``unpaired`` cases lack a score on a side.
         *
         *     The test and the verdict are those of the row of accuracy: ``p_value`` is uncorrected and below 0.05 exactly where
         *     the interval leaves zero, ``adjusted_p`` is corrected over ``family`` rows and decides. ``more_cases`` would
         *     decide what is inconclusive; ``reason`` says why the verdict is what it is. ``error_rates`` are those of both,
         *     with the verdict of their own row; ``None`` where no execution ended in an error.
         */
        HeadToHead: {
            adjusted_p: number | null;
            baseline: string;
            baseline_mean: number | null;
            /** @default 0 */
            both_right: number;
            /** @default 0 */
            both_wrong: number;
            /** @default [] */
            broken: components["schemas"]["CaseKey"][];
            candidate: string;
            candidate_mean: number | null;
            cases: number;
            clusters: number;
            detectable: number | null;
            difference: number | null;
            error_rates?: [
                number,
                number
            ] | null;
            error_verdict?: components["schemas"]["Verdict"] | null;
            /** @default 0 */
            family: number;
            /** @default [] */
            fixed: components["schemas"]["CaseKey"][];
            interval: [
                number,
                number
            ] | null;
            method: string;
            more_cases: number | null;
            p_value: number | null;
            /** @default  */
            reason: string;
            /** @default true */
            same_run: boolean;
            /** @default 0 */
            unpaired: number;
            /** @default inconclusive */
            verdict: components["schemas"]["Verdict"];
        };
        Health: {
            status: string;
            version: string;
        };
        /**
         * @description Counts of positive values in buckets that each are 1 % wider than the one before: bucket ``i`` holds values
         *     from ``1.01**i`` to ``1.01**(i+1)`` nanoseconds, in ``buckets`` as ``{str(i): count}``. ``analysis.histograms``
         *     makes, adds and asks them; a quantile is right to half a percent. ``total`` is the sum of the values, in seconds.
         */
        Histogram: {
            buckets: {
                [key: string]: number;
            };
            /** @default 0 */
            count: number;
            /** @default 0 */
            maximum: number;
            /** @default 0 */
            total: number;
        };
        /**
         * @description The series of one metric, oldest first. ``subject`` is an agent's name or an experiment's arm.
         *
         *     ``drift`` is its slope since the last change, ``None`` where it has none; ``now`` is ``None`` without a point.
         *     ``benchmark`` is "" where a point is the mean over the benchmarks of a run. ``note`` says what the reader has to
         *     know, such as that there are too few points to tell a change.
         */
        History: {
            baseline: number | null;
            /** @default  */
            benchmark: string;
            /** @default [] */
            changes: components["schemas"]["HistoryChange"][];
            drift: components["schemas"]["HistoryDrift"] | null;
            higher_is_better: boolean | null;
            metric: string;
            /** @default  */
            note: string;
            now: components["schemas"]["HistoryLevel"] | null;
            points: components["schemas"]["HistoryPoint"][];
            subject: string;
            /** @default  */
            suite: string;
            unit: string;
        };
        /**
         * @description The level changed at ``index``, the first point of the new regime.
         *
         *     ``before`` and ``after`` are medians; ``relative`` is after / before - 1, ``None`` at zero. ``better`` is ``None``
         *     for a metric without a direction. Unconfirmed ones are provisional: they rest on the last two to seven points, and
         *     later ones may withdraw them. ``cause`` names what else changed there: the suite, the machine, the version of the
         *     agent, whether model calls were recorded. Where the suite changed, or the machine or the recording and the metric
         *     depends on it, the change is not ``comparable``: it says nothing about the subject.
         */
        HistoryChange: {
            after: number;
            at: number;
            before: number;
            better: boolean | null;
            /** @default  */
            cause: string;
            /** @default true */
            comparable: boolean;
            confirmed: boolean;
            index: number;
            p_value: number;
            relative: number | null;
            /** @default  */
            version_after: string;
            /** @default  */
            version_before: string;
        };
        /** @description The series rises or falls steadily from ``index`` on, along a line from ``before`` to ``after``. */
        HistoryDrift: {
            after: number;
            at: number;
            before: number;
            index: number;
            p_value: number;
        };
        /**
         * @description Where a series stands: the median since its last change, or the end of its drift.
         *
         *     ``low`` and ``high`` are the ends of the 95 % interval, ``None`` where too few points show no scatter. ``points``
         *     is how many it rests on; not ``confirmed`` where the change before it is provisional.
         */
        HistoryLevel: {
            /** @default true */
            confirmed: boolean;
            high: number | null;
            low: number | null;
            points: number;
            value: number;
        };
        /**
         * @description One run. ``at`` is UTC milliseconds; ``suite`` the digest of the suite's version, "" for an experiment.
         *
         *     ``machine_id`` is "" where unknown. ``n`` is how many executions are behind the value. ``form`` says
         *     what the run was where it was no whole run of the suite: ``quick``, ``limited``, ``cancelled``, ``capped``.
         *     ``scored`` of its ``cases`` have a score, which scores are of; both are 0 where that is not known. ``proxied``:
         *     its model calls went through the recording proxy, which takes time. ``low`` and ``high`` are the ends of the 95 %
         *     interval of the value, ``None`` where its scatter is not known.
         */
        HistoryPoint: {
            at: number;
            /** @default 0 */
            cases: number;
            /** @default  */
            commit: string;
            /** @default  */
            form: string;
            high: number | null;
            low: number | null;
            /** @default  */
            machine_id: string;
            /** @default 0 */
            n: number;
            /** @default false */
            proxied: boolean;
            /** @default  */
            run_id: string;
            /** @default 0 */
            scored: number;
            /** @default  */
            suite: string;
            value: number;
            /** @default  */
            version: string;
        };
        /** @description Whose history can be asked for. */
        HistorySubjects: {
            agents: string[];
            experiments: components["schemas"]["ExperimentArms"][];
        };
        /**
         * @description ``cases`` that broke, those that lost most first; ``overall`` is what the change alone takes from the overall
         *     score (0.02: two points of a hundred), ``None`` where that cannot be said.
         */
        Impact: {
            /** @default [] */
            cases: components["schemas"]["CaseKey"][];
            overall: number | null;
            /** @default  */
            text: string;
        };
        ImportedItems: {
            items: components["schemas"]["ImportedRun"][];
        };
        /** @description ``known``: the run was in the store already, and nothing was added. */
        ImportedRun: {
            arms: number;
            file: string;
            importer: string;
            kind: string;
            known: boolean;
            name: string;
            run_id: string;
            samples: number;
        };
        /** @description An instrument by name, with the options that the user gave. */
        InstrumentUse: {
            name: string;
            options: {
                [key: string]: unknown;
            };
        };
        /**
         * @description ``process`` protects the run from what it measures; ``inline`` runs in this very process.
         * @enum {string}
         */
        Isolation: "inline" | "process";
        /**
         * @description Calls per fresh start that are not recorded, samples that are, and passes per perturbing instrument.
         *
         *     ``assumed``: nobody said how many samples, so that an experiment's own number goes first.
         */
        Iterations: {
            /** @default false */
            assumed: boolean;
            auto: components["schemas"]["AutoStop"] | null;
            /** @default 1 */
            instrumented: number;
            /** @default 10 */
            measured: number;
            /** @default 1 */
            warmup: number;
        };
        /**
         * @description A run of a suite by an agent, both as they are registered: ``agent_digest`` and ``suite_digest`` are of their
         *     definitions, and only a worker that has registered the same takes the job.
         *
         *     ``attempt`` counts leases and is the fencing token: who holds an older one can write nothing any more. ``lost``
         *     counts leases that ran out (a killed worker), ``failures`` attempts that ended with an error; only the latter use
         *     up ``max_failures``. ``run_id`` is set once the run has begun, so that the next attempt goes on with it.
         *     ``waits_because`` is not kept: it is filled in for who looks at a queued job that no worker offers.
         */
        Job: {
            agent: string;
            agent_digest: string;
            /** @default 0 */
            attempt: number;
            /** @default false */
            cancel_requested: boolean;
            configuration: {
                [key: string]: unknown;
            };
            created_at: number;
            /** @default  */
            created_by: string;
            /** @default  */
            error: string;
            /** @default 0 */
            failures: number;
            finished_at: number | null;
            /** @default  */
            idempotency_key: string;
            job_id: string;
            lease_until: number | null;
            /** @default 0 */
            lost: number;
            /** @default 3 */
            max_failures: number;
            options: {
                [key: string]: unknown;
            };
            /** @default 0 */
            priority: number;
            progress: {
                [key: string]: unknown;
            };
            /** @default  */
            run_id: string;
            started_at: number | null;
            /** @default queued */
            status: components["schemas"]["JobStatus"];
            suite_digest: string;
            suite_id: string;
            /** @default  */
            waits_because: string;
            /** @default  */
            worker: string;
            /** @default default */
            workspace: string;
        };
        /** @description Newest first; ``next`` is the cursor of the following page. */
        JobPage: {
            items: components["schemas"]["Job"][];
            next: string | null;
        };
        /** @enum {string} */
        JobStatus: "queued" | "running" | "succeeded" | "failed" | "cancelled";
        /** @description ``name`` tells keys apart, in lists and in the audit log. */
        KeyBody: {
            name: string;
            scope: components["schemas"]["Scope"];
        };
        KeyItems: {
            items: components["schemas"]["ApiKey"][];
        };
        /** @description The entries under both sets of names. */
        LeaderboardAnswer: {
            category: string;
            days: number;
            entries: components["schemas"]["LeaderboardItem"][];
            metric: string;
            scope: components["schemas"]["BoardScope"];
            total: number;
            until: number;
            weights: {
                [key: string]: number;
            };
        };
        /** @description ``scores_and_ranks`` has the five dimensions; ``last_benchmark_date`` is ISO 8601, UTC. */
        LeaderboardItem: {
            agent: string;
            /** @default  */
            agent_id: string;
            /** @default  */
            agent_name: string;
            attempts: number;
            /** @default  */
            benchmark_category: string;
            benchmarks_completed: number;
            best_ranking: number | null;
            /** @default 0 */
            cases: number;
            category: string;
            cost_per_task_usd: number | null;
            cost_usd: number | null;
            executions: number;
            last_benchmark_at: number | null;
            last_benchmark_date: string | null;
            /** @default [] */
            missing: string[];
            name: string;
            /** @default 0 */
            not_whole: number;
            overall_score: number | null;
            /** @default 0 */
            scored: number;
            scores: {
                [key: string]: components["schemas"]["RankedScore"];
            };
            scores_and_ranks: {
                [key: string]: components["schemas"]["RankedScore"];
            };
            trend: {
                [key: string]: number | null;
            };
            version: string;
        };
        /**
         * @description What ended a scenario's rise. ``nothing``: it stood what was asked. ``client``: the measurement says nothing
         *     about the target beyond that point.
         * @enum {string}
         */
        LimitedBy: "nothing" | "latency" | "errors" | "throughput" | "rate_limit" | "memory" | "size" | "connections" | "client";
        /** @description What one trial may use; ``None`` is no limit. */
        Limits: {
            memory_bytes: number | null;
            /** @default 16777216 */
            output_bytes: number;
            timeout_s: number | null;
        };
        /** @description What one case may use; ``None`` is no limit. */
        LimitsView: {
            cost_limit_usd: number | null;
            memory_limit_mb: number | null;
            time_limit_ms: number | null;
            token_limit: number | null;
        };
        /** @description What stands behind the # of the link that `dyno serve` prints. */
        LinkBody: {
            token: string;
        };
        MarkBody: {
            agent: string;
            benchmark: string;
            case_id: string;
            is_right: boolean;
            /** @default 0 */
            iteration?: number;
            /** @default  */
            note?: string;
        };
        MarkItems: {
            items: components["schemas"]["AnswerMark"][];
        };
        /** @description Every agent × every dimension, by overall rank. ``suite`` is "" over all suites. */
        Matrix: {
            benchmarks: number;
            entries: components["schemas"]["MatrixEntry"][];
            scope: components["schemas"]["BoardScope"];
            suite: string;
            weights: {
                [key: string]: number;
            };
        };
        /**
         * @description One agent of the matrix. ``scores`` has the five dimensions and ``overall``; ``missing`` names dimensions that
         *     are unknown in at least one benchmark, and ``benchmarks`` where it did not complete them all: ``overall`` is then
         *     partial. ``failing`` are benchmarks whose last attempt was no success, ``not_whole`` those whose success is of a
         *     run that was quick, limited or cut short. Accuracy is of ``scored`` of the ``cases`` of what it completed; 0 where
         *     that is not known.
         */
        MatrixEntry: {
            agent: string;
            benchmarks_completed: number;
            /** @default 0 */
            cases: number;
            /** @default [] */
            failing: string[];
            last_success_at: number | null;
            /** @default [] */
            missing: string[];
            name: string;
            /** @default [] */
            not_whole: string[];
            /** @default 0 */
            scored: number;
            scores: {
                [key: string]: components["schemas"]["RankedScore"];
            };
            version: string;
        };
        /** @description ``machine_dependent`` is true where the value says something about the machine too. */
        Metric: {
            /** @default unknown */
            direction: components["schemas"]["Direction"];
            /** @default true */
            machine_dependent: boolean;
            name: string;
            /** @default measured */
            provenance: components["schemas"]["Provenance"];
            /** @default  */
            unit: string;
        };
        /**
         * @description One metric of one arm on both sides.
         *
         *     ``ratio`` is candidate / baseline with its ``interval``, which leaves 1 exactly where ``p_value`` is below
         *     ``level``; ``adjusted_p`` is that p-value corrected over the ``family`` rows that were judged together: the
         *     verdict rests on it. ``threshold`` is the relative change that counts (the larger of tolerance and noise floor);
         *     ``detectable`` the smallest relative change that these samples could have shown; ``more_samples`` how many more
         *     per side would decide. What is counted are samples or, where an arm ran in several processes, processes
         *     (``unit``). ``verdict`` is null for a metric that is shown and not judged, and ``reason`` says why.
         */
        MetricComparison: {
            adjusted_p: number | null;
            baseline: number;
            baseline_n: number;
            candidate: number;
            candidate_n: number;
            detectable: number | null;
            /** @default 0 */
            family: number;
            interval: [
                number,
                number
            ] | null;
            /** @default 0.01 */
            level: number;
            /** @default  */
            method: string;
            metric: components["schemas"]["Metric"];
            more_samples: number | null;
            p_value: number | null;
            /** @default false */
            paired: boolean;
            ratio: number | null;
            reason: string;
            threshold: number;
            /** @default samples */
            unit: string;
            verdict: components["schemas"]["Verdict"] | null;
        };
        MetricNames: {
            items: string[];
        };
        /**
         * @description Figures of one metric in one arm. ``ci`` is the 95 % interval of the median, null when n is too small.
         *
         *     Of an arm that was imported without its samples, figures that its tool did not write are null.
         */
        MetricSummary: {
            ci: [
                number,
                number
            ] | null;
            cv: number | null;
            direction: components["schemas"]["Direction"];
            /** @default true */
            machine_dependent: boolean;
            mad: number | null;
            maximum: number | null;
            mean: number;
            mean_without_outliers: number | null;
            median: number | null;
            minimum: number | null;
            n: number;
            /** @default 0 */
            outliers: number;
            p95: number | null;
            p99: number | null;
            provenance: components["schemas"]["Provenance"];
            std: number | null;
            unit: string;
        };
        /** @description ``secret`` is what a caller sends. It is kept nowhere and shown this once. */
        NewKey: {
            key: components["schemas"]["ApiKey"];
            secret: string;
        };
        /**
         * @description One service-level objective: ``metric`` (``latency``, ``ttft``, ``itl``, ``tpot``, ``queued_ttft``,
         *     ``service``) at ``quantile`` (``None``: the mean), or ``error_rate``, below ``limit`` (seconds, or a share of 1).
         */
        Objective: {
            limit: number;
            metric: string;
            quantile: number | null;
        };
        /** @description Something that could be saved. ``kind`` is a short code, ``evidence`` the numbers it rests on, as texts. */
        Opportunity: {
            /** @default  */
            agent: string;
            evidence: string[];
            kind: string;
            savings_usd: number | null;
            text: string;
        };
        /**
         * @description ``estimated_impact`` is the share of ``basis`` (a total over all executions, in ``unit``) that could be saved
         *     at most; ``saving`` the same per execution, in ``unit``.
         */
        OptimizationOpportunity: {
            basis: string;
            category: string;
            estimated_impact: number;
            /** @default [] */
            evidence: string[];
            implementation_effort: components["schemas"]["Effort"];
            potential_improvement: string;
            rule: string;
            saving: number;
            unit: string;
        };
        /** @description What of the suite is run, and what it may cost; left out: as the suite says. */
        Options: {
            /**
             * @description Run a version of a suite that was run with other contents before.
             * @default false
             */
            allow_changed_suite?: boolean;
            /** @default null */
            epochs?: number | null;
            /** @default null */
            limit?: number | null;
            /** @default null */
            max_cost_usd?: number | null;
            /**
             * @description What the suite says under `quick`.
             * @default false
             */
            quick?: boolean;
        };
        /**
         * @description ``interleaved`` runs the arms in randomised blocks, ``sequential`` one after the other.
         * @enum {string}
         */
        Order: "interleaved" | "sequential";
        /**
         * @description One metric of two agents, the unit being the case.
         *
         *     ``metric`` is a dimension (``accuracy``, ``speed``, ``efficiency``, ``cost``, ``reliability``), ``overall`` or a
         *     quantity (``duration_s``, ``cost_usd``…); ``benchmark`` is "" for the whole suite. ``baseline`` and ``candidate``
         *     are the quantity that was tested, in ``unit``; the scores are in 0..1, ``None`` where there is no target.
         *
         *     ``change`` is candidate / baseline - 1 where ``relative``, else candidate - baseline; ``interval`` and
         *     ``detectable`` (the smallest change these cases would show 8 times in 10, always positive) are of the same kind.
         *     ``p_value`` is two-sided and uncorrected; it is below ``level`` exactly where the interval, which inverts the same
         *     test at 1 - ``level``, leaves zero. ``adjusted_p`` is after Holm's correction together with the other rows of its
         *     family, ``family`` of them in all; 0 where there is no test. ``level`` is 0.05, and 0.01 where runs are tested.
         *     ``per_try`` is, of what is counted per success, the relative change per execution, the pass rate left out.
         *     ``per_success`` is, of a cost, what a success cost on both sides, ``None`` where there was none: it follows from
         *     the row and the pass rate, and is not tested.
         *     ``effect`` is the matched-pairs rank-biserial correlation, positive where the candidate is better. ``wins`` and
         *     ``losses`` count cases. ``verdict`` is the candidate's; it is ``None`` where the two do not compare, and
         *     ``reason`` says why. ``more_cases`` is how many more would decide an inconclusive row.
         */
        PairedRow: {
            adjusted_p: number | null;
            baseline: number | null;
            baseline_score: number | null;
            benchmark: string;
            candidate: number | null;
            candidate_score: number | null;
            /** @default 0 */
            cases: number;
            change: number | null;
            /** @default 0 */
            clusters: number;
            detectable: number | null;
            effect: number | null;
            /** @default 0 */
            family: number;
            higher_is_better: boolean;
            interval: [
                number,
                number
            ] | null;
            /** @default 0.05 */
            level: number;
            /** @default 0 */
            losses: number;
            /** @default  */
            method: string;
            metric: string;
            more_cases: number | null;
            p_value: number | null;
            per_success: [
                number | null,
                number | null
            ] | null;
            per_try: number | null;
            quantity: string;
            /** @default  */
            reason: string;
            relative: boolean;
            unit: string;
            verdict: components["schemas"]["Verdict"] | null;
            /** @default 0 */
            wins: number;
        };
        /**
         * @description Of an agent on a suite, or of one case of it (``case_id``; ``trees`` then has its executions span by span).
         *
         *     ``executions`` were profiled; ``without_spans`` more told nothing of what happened inside: they are no part of the
         *     phases, but of the CPU time, memory and storage used.
         *     ``wall_s`` is the sum over the profiled ones: the basis of every share of time. ``traced``: the spans come from a
         *     pass with tracing on. ``beyond_measured`` counts executions whose spans go on after the end that the bench
         *     measured: such spans are the agent's own claim. ``waited_s`` is what the bench waited between tries, outside the
         *     wall time.
         */
        PerformanceProfile: {
            agent_id: string;
            benchmark: string | null;
            /** @default 0 */
            beyond_measured: number;
            case_id: string | null;
            /** @default 0 */
            cpu_known: number;
            definitions: {
                [key: string]: string;
            };
            /** @default 0 */
            executions: number;
            optimization_opportunities: components["schemas"]["OptimizationOpportunity"][];
            profile_data: components["schemas"]["ProfileData"];
            /** @default  */
            run_id: string;
            /** @default false */
            simulated: boolean;
            /** @default  */
            suite: string;
            /** @default false */
            traced: boolean;
            /** @default [] */
            trees: components["schemas"]["SpanTree"][];
            /** @default 0 */
            unreadable: number;
            /** @default 0 */
            waited_s: number;
            /** @default 0 */
            wall_s: number;
            /** @default 0 */
            without_spans: number;
        };
        /**
         * @description The same questions in another form. ``agreement`` is the share of pairs that end alike (both right or both
         *     wrong); ``change`` is the accuracy of the perturbed form less that of the original, with its 95 % interval.
         *     ``broken`` are the perturbed cases that fail where the original passes.
         */
        Perturbed: {
            agreement: number;
            /** @default [] */
            broken: string[];
            change: number;
            interval: [
                number,
                number
            ] | null;
            original: number;
            pairs: number;
            perturbed: number;
        };
        /**
         * @description Warm-up executions are repeated after every fresh start and are never planned samples.
         * @enum {string}
         */
        Phase: "warmup" | "measured" | "instrumented";
        /** @description RFC 9457, with what to do about it: ``remedy`` in words, ``near`` the nearest known names. */
        Problem: {
            detail: string;
            /** @default [] */
            errors: components["schemas"]["FieldProblem"][];
            instance: string;
            /** @default [] */
            near: string[];
            /** @default null */
            remedy: string | null;
            status: number;
            title: string;
            type: string;
        };
        /** @description One quantity on both sides, per execution; ``ratio`` is candidate to baseline. */
        ProfileChange: {
            baseline: number | null;
            candidate: number | null;
            name: string;
            ratio: number | null;
            unit: string;
        };
        /** @description Two profiles on the cases that both have; ``cases`` counts these. Differences are shown, not judged. */
        ProfileComparison: {
            baseline: components["schemas"]["PerformanceProfile"];
            candidate: components["schemas"]["PerformanceProfile"];
            cases: number;
            changes: components["schemas"]["ProfileChange"][];
        };
        ProfileData: {
            bottlenecks: components["schemas"]["Bottleneck"][];
            execution_phases: components["schemas"]["ExecutionPhase"][];
            resource_utilization: components["schemas"]["ResourceUtilization"];
            token_analysis: components["schemas"]["TokenAnalysis"];
        };
        /**
         * @description What an agent is doing at a moment, in the order in which tables show it.
         * @enum {string}
         */
        ProfilePhase: "model" | "tool" | "retrieval" | "own_code" | "queue" | "retry_wait" | "idle";
        /** @description What was asked for: one profile per agent, or two sides. */
        ProfileReport: {
            /** @default [] */
            comparisons: components["schemas"]["ProfileComparison"][];
            /** @default [] */
            profiles: components["schemas"]["PerformanceProfile"][];
        };
        /**
         * @description One span of an execution. Times are seconds since the case began.
         *
         *     ``parent`` is the index of the span around it, ``None`` at the top. ``self_s`` is its part of the wall time: the
         *     moments in which it is open and no span below it is, divided where several such spans are open at once; so the
         *     parts of all spans and of the time outside them add up to the wall time. ``busy_s`` are the same moments
         *     undivided. ``critical_s`` is its part of the critical path.
         */
        ProfiledSpan: {
            busy_s: number;
            critical_s: number;
            depth: number;
            end_s: number;
            failed: boolean | null;
            index: number;
            input_tokens: number | null;
            kind: string;
            name: string;
            output_tokens: number | null;
            parent: number | null;
            phase: components["schemas"]["ProfilePhase"];
            self_s: number;
            start_s: number;
        };
        /**
         * @description Up to the time ``at`` (UTC milliseconds): executions ``done`` and ``passed``, and what is known of the cost.
         *
         *     The durations are of the executions since the point before, ``None`` where none of them has one.
         */
        ProgressPoint: {
            at: number;
            cost_usd: number | null;
            done: number;
            median_s: number | null;
            p95_s: number | null;
            passed: number;
        };
        /**
         * @description Where a value comes from. Simulated values never pass for measured ones; ``reported`` ones are what an agent
         *     says of itself: they are shown, and nothing is ranked, scored or decided by them.
         * @enum {string}
         */
        Provenance: "measured" | "derived" | "estimated" | "simulated" | "reported";
        /** @description A score in 0..1 and its rank (1 is best; equals share one), each with a 95 % interval; ``None``: unknown. */
        RankedScore: {
            interval: [
                number,
                number
            ] | null;
            rank: number | null;
            rank_interval: [
                number,
                number
            ] | null;
            score: number | null;
        };
        /** @description ``evidence`` names the scenario and the figures that it rests on. */
        Recommendation: {
            evidence: string;
            /** @default medium */
            priority: string;
            scenario: string;
            text: string;
        };
        /**
         * @description How the epochs of one case become one score; ``pass@k`` and ``pass^k`` take ``Rubric.k``.
         * @enum {string}
         */
        Reducer: "mean" | "max" | "pass@k" | "pass^k";
        /**
         * @description One change for the worse; with ``improvement`` one for the better.
         *
         *     ``kind`` is ``drop`` (version), ``step`` (history), or of a pattern ``several-small-drops``, ``drift``,
         *     ``rising-variance``, ``error-creep``. ``benchmark`` is "" for the whole suite. ``amount`` is by how much it became
         *     worse in parts of the baseline (0.1: 10 %), or plainly where ``relative`` is false (a baseline of zero, a rate);
         *     of an improvement it is negative. ``baseline`` and ``current`` are in ``unit``. ``p_value`` is after correction.
         *     Unconfirmed ones rest on few points. ``undone_at`` is when a later change of the series took it back, UTC
         *     milliseconds like ``since``.
         */
        Regression: {
            amount: number;
            baseline: number;
            /** @default  */
            benchmark: string;
            /** @default  */
            category: string;
            /** @default true */
            confirmed: boolean;
            current: number;
            detector: components["schemas"]["Detector"];
            explanation: string;
            /**
             * @default {
             *       "cases": [],
             *       "text": ""
             *     }
             */
            impact: components["schemas"]["Impact"];
            /** @default false */
            improvement: boolean;
            kind: string;
            metric: string;
            p_value: number | null;
            relative: boolean;
            severity: components["schemas"]["Severity"];
            since: number | null;
            threshold: number;
            undone_at: number | null;
            /** @default  */
            unit: string;
            /** @default  */
            version: string;
        };
        /** @description ``overall_health`` is ``health`` and ``recommended_action`` is ``action``; improvements stand apart. */
        RegressionAnswer: {
            action: string;
            agent: string;
            /** @default  */
            agent_id: string;
            baseline: string;
            current: string;
            /** @default false */
            has_regressions: boolean;
            health: number | null;
            improvements: components["schemas"]["Regression"][];
            overall_health: number | null;
            /** @default  */
            recommended_action: string;
            regressions: components["schemas"]["RegressionItem"][];
            /** @default  */
            suite: string;
            /** @default [] */
            warnings: components["schemas"]["RunWarning"][];
        };
        /**
         * @description ``regression_percentage`` is in per cent of the baseline, ``None`` for what has no percentage (from zero, or of
         *     a rate); ``amount`` has it in parts. ``impact_analysis`` is a sentence.
         */
        RegressionItem: {
            amount: number;
            baseline: number;
            /** @default 0 */
            baseline_value: number;
            /** @default  */
            benchmark: string;
            /** @default  */
            benchmark_id: string;
            /** @default  */
            category: string;
            /** @default true */
            confirmed: boolean;
            current: number;
            /** @default 0 */
            current_value: number;
            detector: components["schemas"]["Detector"];
            explanation: string;
            /**
             * @default {
             *       "cases": [],
             *       "text": ""
             *     }
             */
            impact: components["schemas"]["Impact"];
            /** @default  */
            impact_analysis: string;
            /** @default false */
            improvement: boolean;
            kind: string;
            metric: string;
            p_value: number | null;
            regression_percentage: number | null;
            relative: boolean;
            severity: components["schemas"]["Severity"];
            since: number | null;
            threshold: number;
            undone_at: number | null;
            /** @default  */
            unit: string;
            /** @default  */
            version: string;
        };
        /**
         * @description One agent over a suite, or in one ``benchmark``.
         *
         *     ``pass_hat`` and ``pass_at`` give per k = 1, 2, … the mean over cases of the chance that k tries all succeed, or
         *     that one of k does; a k for which some case has too few tries is left out. ``consistency`` is the mean chance that
         *     two tries of a case end alike, ``None`` without repeats; ``flaky`` counts cases that passed sometimes.
         *     ``statuses`` counts executions by their end; ``error_rate`` is the share that raised or got no answer for a
         *     technical reason. ``spread`` is by metric the median over cases of the coefficient of variation between tries.
         */
        Reliability: {
            agent: string;
            benchmark: string;
            cases: number;
            consistency: components["schemas"]["ScoreEstimate"];
            error_rate: number | null;
            /** @default [] */
            errors: components["schemas"]["ErrorClass"][];
            flaky: number;
            pass_at: [
                number,
                number
            ][];
            pass_hat: [
                number,
                components["schemas"]["ScoreEstimate"]
            ][];
            perturbed: components["schemas"]["Perturbed"] | null;
            /** @default false */
            simulated: boolean;
            spread: {
                [key: string]: number;
            };
            statuses: {
                [key: string]: number;
            };
            tries: number;
        };
        ReliabilityItems: {
            items: components["schemas"]["Reliability"][];
        };
        /** @enum {string} */
        ReportFormat: "html" | "md" | "csv" | "json" | "junit" | "png";
        /** @description Of one phase; ``None`` where nothing measured it. */
        ResourceUsage: {
            cpu_percent: number | null;
            io_operations: number | null;
            memory_mb: number | null;
        };
        /** @description The four efficiencies, and the readings that they rest on (means per execution; peaks are the highest). */
        ResourceUtilization: {
            cpu_efficiency: number | null;
            cpu_s: number | null;
            gpu_memory_bytes: number | null;
            gpu_percent: number | null;
            io_efficiency: number | null;
            memory_efficiency: number | null;
            parallelization_score: number | null;
            peak_rss_bytes: number | null;
            read_bytes: number | null;
            write_bytes: number | null;
        };
        /** @description Newest first; ``next`` is the cursor of the page behind it. */
        ResultPage: {
            items: components["schemas"]["ExecutionItem"][];
            next: string | null;
        };
        /**
         * @description How answers are judged and figures scored.
         *
         *     ``targets`` and ``limits`` are the values at which a quantity scores 1 and 0, by metric name: ``duration_s``,
         *     ``cost_usd`` (per success), ``total_tokens``, ``cpu_s``, ``peak_rss_bytes`` (per success).
         */
        Rubric: {
            /** @default 1 */
            k: number;
            limits: {
                [key: string]: number;
            };
            /** @default 0.5 */
            pass_threshold: number;
            /** @default mean */
            reducer: components["schemas"]["Reducer"];
            /**
             * @default [
             *       {
             *         "name": "exact",
             *         "options": {},
             *         "weight": 1
             *       }
             *     ]
             */
            scorers: components["schemas"]["ScorerUse"][];
            targets: {
                [key: string]: number;
            };
        };
        /** @description A registered agent and a registered suite, by name or UUID; nothing else can be run. */
        RunBody: {
            agent_id: string;
            /**
             * @description Answer at once with a job.
             * @default false
             */
            async_execution?: boolean;
            /**
             * @description Settings that the agent declares, and sampling options of models.
             * @default {}
             */
            configuration?: {
                [key: string]: boolean | number | string | string[] | null;
            };
            /**
             * @default {
             *       "allow_changed_suite": false,
             *       "epochs": null,
             *       "limit": null,
             *       "max_cost_usd": null,
             *       "quick": false
             *     }
             */
            options?: components["schemas"]["Options"];
            suite_id: string;
        };
        /** @description Runs against the first of them: ``duels`` of agents in suites, ``comparisons`` of experiments. */
        RunComparisons: {
            comparisons: components["schemas"]["Comparison"][];
            duels: components["schemas"]["Duel"][];
        };
        /**
         * @description ``planned`` executions, and points of the newest 20,000. ``job_id`` is of the job that makes it, "" for none.
         *
         *     ``executed``: a process works on it right now, as far as this machine and the jobs tell.
         */
        RunCourse: {
            executed: boolean;
            job_id: string;
            planned: number;
            /** @default [] */
            points: components["schemas"]["ProgressPoint"][];
            run_id: string;
            status: components["schemas"]["RunStatus"];
        };
        /**
         * @description ``calls`` of the agent, warm-ups included, for ``cases`` asked ``epochs`` times. ``usd`` is ``None`` where the
         *     agent costs money and nobody knows how much; 0 where it costs nothing. ``seconds`` rests on the agent's last
         *     executions of the suite, ``None`` where there are none.
         */
        RunEstimate: {
            agent: string;
            calls: number;
            cases: number;
            epochs: number;
            seconds: number | null;
            usd: number | null;
        };
        /**
         * @description What was asked for. ``suite`` is the digest of the whole suite's version, "" where it could not be read.
         *
         *     ``cases`` of ``suite_cases`` were chosen; ``selection`` is a digest of their ids, "" for all of them. ``whole`` is
         *     False where the choice or the limits of a case differ from the suite's own. ``quick``: what the suite says under
         *     ``quick:`` was applied. ``limits`` are of the whole run. ``proxied``: calls went through a recording proxy.
         */
        RunForm: {
            cases: number;
            epochs: number;
            limits: components["schemas"]["Constraints"];
            /** @default false */
            proxied: boolean;
            /** @default false */
            quick: boolean;
            /** @default  */
            selection: string;
            suite: string;
            suite_cases: number;
            suite_epochs: number;
            /** @default true */
            whole: boolean;
        };
        /**
         * @description The ids of the runs before and after, of the same kind and name; ``verdicts`` of a suite's agents.
         *
         *     ``form`` says what a suite's run turned out to be (``full``, ``quick``, ``limited``…), "" for other kinds.
         */
        RunPlace: {
            /** @default  */
            form: string;
            next_run_id: string | null;
            previous_run_id: string | null;
            run_id: string;
            /** @default [] */
            verdicts: components["schemas"]["RunVerdict"][];
        };
        /**
         * @description Times are UTC milliseconds. ``overhead_s`` is the harness's own cost per timed call.
         *
         *     ``suite`` is set where ``kind`` is ``suite``; ``spec`` then holds the settings of the run and no entries.
         *     ``pricing`` is the snapshot of the prices that the run's costs rest on; ``targets`` gives per benchmark and metric
         *     the values that score 1 and 0. ``origin`` is of a run that was not made here: ``tool``, ``version``, ``file`` and
         *     ``sha256`` of what it was read from. ``form`` says what a run of a suite was asked to be; ``None`` where it was
         *     recorded before that was known, and for other kinds. ``paused_ms`` is how long it stood still between being
         *     interrupted and being resumed.
         */
        RunResult: {
            /** @default [] */
            arms: components["schemas"]["ArmResult"][];
            environment: components["schemas"]["Environment"];
            finished_at: number | null;
            form: components["schemas"]["RunForm"] | null;
            kind: string;
            name: string;
            /** @default  */
            notes: string;
            origin: {
                [key: string]: string;
            };
            overhead_s: number | null;
            /** @default 0 */
            paused_ms?: number;
            pricing: {
                [key: string]: unknown;
            };
            run_id: string;
            /** @default 1 */
            schema_version: number;
            seed: number;
            spec: components["schemas"]["Spec"];
            started_at: number;
            status: components["schemas"]["RunStatus"];
            stopped_because: string | null;
            suite: components["schemas"]["Suite"] | null;
            /** @default [] */
            tags: string[];
            targets: {
                [key: string]: {
                    [key: string]: [
                        number,
                        number
                    ];
                };
            };
            vcs: components["schemas"]["Vcs"] | null;
            /** @default [] */
            warnings: components["schemas"]["RunWarning"][];
            /** @default default */
            workspace: string;
        };
        /**
         * @description One line of a list of runs.
         *
         *     ``samples`` counts everything recorded; ``errors`` those of them that gave no answer (status ``error``,
         *     ``timeout`` or ``limit``). ``form`` says of a run of a suite what it was, as in ``model.form``; "" for others.
         *     ``subjects`` are in the order of the plan. ``suite_id`` and ``commit`` are "" where there is none. ``paused_ms``
         *     is how long it stood still between being interrupted and being resumed.
         */
        RunRow: {
            arms: number;
            /** @default  */
            commit: string;
            errors: number;
            finished_at: number | null;
            /** @default  */
            form: string;
            kind: string;
            name: string;
            /** @default 0 */
            paused_ms: number;
            run_id: string;
            samples: number;
            started_at: number;
            status: components["schemas"]["RunStatus"];
            /** @default [] */
            subjects: components["schemas"]["RunSubject"][];
            /** @default  */
            suite_id: string;
            /** @default [] */
            tags: string[];
        };
        RunRowPage: {
            items: components["schemas"]["RunRow"][];
            next: string | null;
        };
        /**
         * @description ``partial``: interrupted or stopped early, what was measured is kept. ``failed``: no usable sample.
         * @enum {string}
         */
        RunStatus: "running" | "complete" | "partial" | "failed";
        /**
         * @description What was measured in a run: an agent over all its benchmarks, an arm of an experiment, a scenario of a load.
         *
         *     ``label`` is ``name@version`` of an agent, else the name of the experiment or scenario; ``params`` are in words.
         *     ``score`` (0..1, the overall one) and ``pass_rate`` are an agent's. ``median`` is of ``metric``, in its ``unit``:
         *     seconds per case of an agent, what an experiment measures first, the latency of a load. ``cost_usd`` is of all its
         *     executions together. What is not known is ``None``; ``metric`` is then "".
         *
         *     ``verdict`` is of this run against ``against``, its baseline, where somebody asked for it and there is one; a run
         *     of the baseline itself has itself there.
         */
        RunSubject: {
            /** @default  */
            against: string;
            cost_usd: number | null;
            label: string;
            median: number | null;
            /** @default  */
            metric: string;
            /** @default  */
            params: string;
            pass_rate: number | null;
            score: number | null;
            /** @default  */
            side: string;
            /** @default  */
            unit: string;
            verdict: components["schemas"]["Verdict"] | null;
        };
        /**
         * @description An agent of a run against its baseline: the one that was set, else the version before, "" where there is none.
         *
         *     ``summary`` is the sentence to read; ``broken`` cases only the baseline got right, ``fixed`` ones only this run.
         */
        RunVerdict: {
            agent: string;
            baseline: string;
            /** @default  */
            baseline_run_id: string;
            /** @default [] */
            broken: components["schemas"]["CaseKey"][];
            /** @default [] */
            fixed: components["schemas"]["CaseKey"][];
            suite_id: string;
            summary: string;
            /** @enum {string} */
            verdict: "worse" | "inconclusive" | "better" | "same" | "no-baseline";
        };
        /** @description A run without its samples and cases, and what is concluded about it; ``bands`` where they are asked for. */
        RunView: {
            /** @default [] */
            bands: components["schemas"]["BandFinding"][];
            comparison: components["schemas"]["Comparison"] | null;
            run: components["schemas"]["RunResult"];
            standing: components["schemas"]["SuiteStanding"] | null;
        };
        /** @description A typed warning with its remedy; ``arm_id`` where it concerns one arm. */
        RunWarning: {
            arm_id: string | null;
            code: string;
            message: string;
            /** @default  */
            remedy: string;
        };
        /** @description One executed trial. Durations are seconds per call; a sample covers ``inner_loops`` calls. */
        Sample: {
            arm_id: string;
            /** @default 1 */
            attempts: number;
            /** @default  */
            case_id: string;
            details: {
                [key: string]: unknown;
            };
            failure: components["schemas"]["Failure"] | null;
            /** @default 1 */
            inner_loops: number;
            /** @default  */
            instrument: string;
            iteration: number;
            output: unknown;
            /** @default 0 */
            part?: number;
            phase: components["schemas"]["Phase"];
            /** @default 0 */
            process: number;
            readings: {
                [key: string]: number;
            };
            scores: {
                [key: string]: number | null;
            };
            /** @default 0 */
            seed: number;
            started_at_ms: number;
            status: components["schemas"]["Status"];
            usage: {
                [key: string]: number;
            };
        };
        SamplePage: {
            items: components["schemas"]["SampleRow"][];
            next: string | null;
        };
        /**
         * @description One line of a list of samples; ``output`` is text, its first 2,000 characters where ``output_cut``.
         *
         *     ``failure`` is the message of one. ``agent`` and ``benchmark`` are ``None`` for an experiment.
         */
        SampleRow: {
            agent: string | null;
            arm: string;
            arm_id: string;
            benchmark: string | null;
            case_id: string;
            cost_usd: number | null;
            duration_s: number | null;
            failure: string | null;
            instrument: string;
            iteration: number;
            output: string | null;
            output_cut: boolean;
            phase: string;
            score: number | null;
            simulated: boolean;
            status: components["schemas"]["Status"];
            total_tokens: number | null;
        };
        /**
         * @description One scenario. ``figures`` are its own numbers by name (``recovery_half_life_s``, ``rss_slope_bytes_per_s``,
         *     ``retry_after_kept_rate``…), unknown ones left out; ``score`` is 0 to 100, null where it could not be judged;
         *     ``outcomes`` counts all requests by outcome; ``phases`` are (label, from, to) in seconds, for shading;
         *     ``distributions`` are of all successes, by ``latency``, ``ttft``, ``itl``. ``token_source`` is where counts of
         *     tokens come from, and ``chunks_are_tokens`` whether a chunk is one token: where it is not, the gaps are between
         *     chunks and say nothing about tokens. ``statuses`` counts failures by HTTP status; ``cached_tokens`` are those of
         *     the inputs that the server had kept, null where it does not say.
         */
        ScenarioReport: {
            asked: number;
            breaking_point: components["schemas"]["BreakingPoint"] | null;
            broke: boolean;
            cached_tokens: number | null;
            chunks_are_tokens: boolean | null;
            /** @default false */
            client_limited: boolean;
            /** @default  */
            client_reason: string;
            /** @default false */
            closed_loop: boolean;
            /** @default [] */
            curve: components["schemas"]["CurvePoint"][];
            description: string;
            distributions: {
                [key: string]: components["schemas"]["Histogram"];
            };
            evidence: string;
            figures: {
                [key: string]: number | null;
            };
            headline: {
                [key: string]: number | null;
            };
            late: number;
            law: components["schemas"]["FittedLaw"] | null;
            limited_by: components["schemas"]["LimitedBy"];
            objectives: {
                [key: string]: [
                    number | null,
                    boolean | null
                ];
            };
            outcomes: {
                [key: string]: number;
            };
            /** @default [] */
            over_time: components["schemas"]["TimePoint"][];
            parameters: {
                [key: string]: unknown;
            };
            /** @default [] */
            phases: [
                string,
                number,
                number
            ][];
            /** @default measured */
            provenance: components["schemas"]["Provenance"];
            requests: number;
            scenario: string;
            score: number | null;
            statuses: {
                [key: string]: number;
            };
            target: string;
            /** @default  */
            token_source: string;
            unsent: number;
            /** @default [] */
            warnings: components["schemas"]["RunWarning"][];
        };
        /**
         * @description Each holds the ones before it.
         * @enum {string}
         */
        Scope: "read" | "run" | "admin";
        /** @description A score in 0..1 with its 95 % interval; ``None`` where it is not known. */
        ScoreEstimate: {
            interval: [
                number,
                number
            ] | null;
            value: number | null;
        };
        /**
         * @description How far the scores of an arm can be trusted together, from resampled cases; all in points of 0..1.
         *
         *     ``low`` and ``high`` are the ends of the 95 % intervals by score, ``overall`` among them. ``covariance`` is of
         *     the five dimensions in their order: the upper half of the matrix, row by row, ``None`` where one has no score.
         *     ``pooled`` is its mean over the last ``runs`` runs of the same cases, and ``shared`` the part of it that two such
         *     runs have in common: the luck of the cases, not that of the run. ``below`` and ``above`` are the mean distances of
         *     the scores from both ends over these runs, in the order of the dimensions, ``overall`` last.
         */
        ScoreSpread: {
            /** @default [] */
            above: (number | null)[];
            /** @default [] */
            below: (number | null)[];
            covariance: (number | null)[];
            high: {
                [key: string]: number;
            };
            low: {
                [key: string]: number;
            };
            /** @default [] */
            pooled: (number | null)[];
            /** @default 1 */
            runs: number;
            /** @default [] */
            shared: (number | null)[];
        };
        /**
         * @description What one scorer says of an agent: the mean of its main value over the cases that it judged, in 0..1.
         *
         *     ``scorer`` is its name, with a number where a rubric has it twice. ``primary`` is the scorer that weighs most in
         *     its rubric, the first of those that weigh the same. ``interval`` is of 95 %, and missing over several benchmarks.
         */
        ScorerMean: {
            interval: [
                number,
                number
            ] | null;
            primary: boolean;
            scorer: string;
            value: number | null;
            weight: number;
        };
        /**
         * @description A scorer that could not judge all answers of an agent in a benchmark.
         *
         *     Of ``answers`` it raised on ``raised``, which count as 0, and had no verdict about ``unscored``. ``cases`` are the
         *     first few of these, ``cases_total`` counts them all; ``why`` is what was said of the first.
         */
        ScorerTrouble: {
            agent: string;
            answers: number;
            benchmark: string;
            /** @default [] */
            cases: string[];
            /** @default 0 */
            cases_total: number;
            raised: number;
            scorer: string;
            unscored: number;
            why: string;
        };
        /** @description A scorer by name (or ``file.py@name``) with its options and its weight in the case's score. */
        ScorerUse: {
            name: string;
            options: {
                [key: string]: unknown;
            };
            /** @default 1 */
            weight: number;
        };
        /**
         * @description The client's own error, measured on loopback before the run: seconds. ``rate_per_s`` is the most that this
         *     client sent there without pacing.
         */
        SelfCheck: {
            lag_p50_s: number;
            lag_p99_s: number;
            rate_per_s: number;
            requests: number;
            ttft_error_p50_s: number;
            ttft_error_p99_s: number;
        };
        /**
         * @description Who asks, and what they ask. ``generation`` changes with results.
         *
         *     ``store`` is its URL without password, for administrators; the others need not know where results lie.
         */
        Session: {
            generation: number;
            keyless: boolean;
            scope: components["schemas"]["Scope"];
            store: string | null;
            version: string;
            who: string;
            workspace: string;
        };
        /** @enum {string} */
        Severity: "low" | "medium" | "high" | "critical";
        /**
         * @description The two sides of a comparison that runs inside one run.
         * @enum {string}
         */
        Side: "baseline" | "candidate";
        /** @description ``remember``: for 30 days, else until the browser is closed. */
        SignInBody: {
            /** @default false */
            remember?: boolean;
        };
        /**
         * @description The spans of one execution, parents before children. ``outside_s`` is the time in no span, and
         *     ``outside_critical_s`` its part of the critical path; ``unreadable`` counts events whose times make no sense.
         *     ``wall_s`` is ``measured_s``, what the bench measured, or longer where spans are said to end later.
         */
        SpanTree: {
            benchmark: string;
            case_id: string;
            iteration: number;
            measured_s: number | null;
            outside_critical_s: number;
            outside_s: number;
            spans: components["schemas"]["ProfiledSpan"][];
            /** @default false */
            traced: boolean;
            /** @default 0 */
            unreadable: number;
            wall_s: number;
        };
        /**
         * @description One run. ``base_dir`` is where relative paths start; ``source`` is the file, for messages.
         *
         *     ``processes`` is how many fresh processes an arm's samples are spread over; ``None`` is one, or ten where two
         *     sides are compared (a process has a speed of its own, by its layout in memory).
         *
         *     ``against`` names the other side of a run that measures two: ``git:COMMIT``, ``python:PATH``, ``params:JSON``,
         *     ``experiment:NAME`` or, in a suite, ``agent:NAME``. ``until_decided`` runs a suite case by case and ends when the
         *     sides are told apart.
         *     ``otel`` puts each case of a suite once more to its agents, with tracing on, after everything that is timed.
         *     ``executor`` is where trials run. ``reports`` are written with every run. ``bands`` has thresholds that replace
         *     those of the settings; ``None`` where nobody asked to hold the figures against any.
         */
        Spec: {
            /** @default auto */
            affinity: components["schemas"]["Affinity"];
            against: string | null;
            bands?: {
                [key: string]: number;
            } | null;
            /** @default . */
            base_dir: string;
            entries: components["schemas"]["Entry"][];
            /** @default local */
            executor?: string;
            /** @default normal */
            gc: components["schemas"]["GcPolicy"];
            /** @default [] */
            imports: string[];
            inner_loops: number | null;
            /** @default [] */
            instruments: components["schemas"]["InstrumentUse"][];
            /** @default process */
            isolation: components["schemas"]["Isolation"];
            limits: components["schemas"]["Limits"];
            /** @default 0.5 */
            max_failure_rate: number;
            metrics: {
                [key: string]: components["schemas"]["DeclaredMetric"];
            };
            name: string;
            /** @default  */
            notes: string;
            /** @default interleaved */
            order: components["schemas"]["Order"];
            /** @default false */
            otel?: boolean;
            output_dir: string | null;
            /** @default 1 */
            parallelism: number;
            processes: number | null;
            /** @default [] */
            reports: string[];
            /** @default 42 */
            seed: number;
            /** @default  */
            source: string;
            /** @default [] */
            tags: string[];
            time_budget_s: number | null;
            /** @default false */
            until_decided: boolean;
        };
        /**
         * @description What one agent's executions with one model spent on a day (``day``: UTC milliseconds of its beginning).
         *
         *     ``model`` is "" where no answer named one. ``cost_usd`` is ``None`` where no execution has a known cost, else that
         *     of the ``priced`` ones of the ``executions``; ``tokens`` likewise of the ``counted`` ones.
         */
        SpendItem: {
            agent: string;
            cost_usd: number | null;
            counted: number;
            day: number;
            executions: number;
            model: string;
            priced: number;
            tokens: number | null;
        };
        /** @description The last ``days`` days, the oldest first. */
        SpendItems: {
            days: number;
            items: components["schemas"]["SpendItem"][];
        };
        /** @description One value per case, in ``unit``. */
        Spread: {
            agent: string;
            simulated: boolean;
            unit: string;
            values: number[];
        };
        SpreadItems: {
            items: components["schemas"]["Spread"][];
        };
        /** @description ``days`` since the last success, ``None`` where it never had one. */
        StaleAgent: {
            agent: string;
            days: number | null;
            last_attempt_at: number | null;
            last_success_at: number | null;
            name: string;
            version: string;
        };
        /**
         * @description Never merged: an infrastructure error is not a wrong answer.
         * @enum {string}
         */
        Status: "ok" | "failed" | "error" | "timeout" | "limit" | "cancelled";
        /**
         * @description How the values of a sweep are combined.
         * @enum {string}
         */
        Strategy: "cartesian" | "random" | "zip";
        /** @description Load runs, newest first. */
        StressItems: {
            /** @default [] */
            items: components["schemas"]["StressReport"][];
        };
        /**
         * @description All scenarios of one target in one run. ``resilience_score`` is 0 to 100 (``docs/concepts/load.md`` says how),
         *     null where no scenario could be judged. ``scaling_limits`` are the breaking points by axis. ``clients`` says how
         *     many clients on which machines asked, and how exact their clocks are; "" where this machine asked alone.
         */
        StressReport: {
            agent_id: string;
            /** @default  */
            clients: string;
            finished_at: number | null;
            /** @default [] */
            objectives: components["schemas"]["Objective"][];
            /** @default [] */
            recommendations: components["schemas"]["Recommendation"][];
            resilience_score: number | null;
            run_id: string;
            scaling_limits: {
                [key: string]: components["schemas"]["BreakingPoint"];
            };
            scenarios: components["schemas"]["ScenarioReport"][];
            self_check: components["schemas"]["SelfCheck"] | null;
            /** @default false */
            simulated: boolean;
        };
        /**
         * @description ``value`` is a share (0..1; a reduction may be negative), ``None`` where nothing can be said, and ``note`` says
         *     why. ``met`` is whether it reaches ``goal``. ``interval`` is 95 %, of shares of independent cases. ``counts`` are
         *     the numbers that it is made of, and ``counted`` how, in a sentence.
         */
        SuccessMetric: {
            counted: string;
            counts: {
                [key: string]: number;
            };
            goal: number;
            interval: [
                number,
                number
            ] | null;
            met: boolean | null;
            name: string;
            /** @default  */
            note: string;
            value: number | null;
        };
        /** @description Of the ``days`` days up to ``until`` (UTC milliseconds). */
        SuccessReport: {
            days: number;
            metrics: components["schemas"]["SuccessMetric"][];
            until: number;
        };
        /**
         * @description Many benchmarks for agents; its id follows from its name unless given.
         *
         *     ``created_at`` is an ISO date as written; ``version`` is declared or "". ``warmup`` is ``None`` where nobody
         *     said: 3 calls for an agent that costs nothing, none for others. ``fail_under`` is the least accuracy (0..1) with
         *     which a run of it is a success. ``record`` says what is kept of the agents' model calls. ``thresholds`` say from
         *     which change on a metric counts as worse, as ``findings.history.judge_thresholds`` has them.
         */
        Suite: {
            /** @default [] */
            agents: components["schemas"]["AgentUse"][];
            /** @default . */
            base_dir: string;
            /** @default [] */
            baseline_scores: components["schemas"]["BaselineScores"][];
            benchmarks: components["schemas"]["Benchmark"][];
            /** @default comprehensive */
            category: components["schemas"]["Category"];
            /** @default 1 */
            concurrency: number;
            constraints: components["schemas"]["Constraints"];
            /** @default  */
            created_at: string;
            /** @default  */
            description: string;
            /** @default 5 */
            epochs: number;
            fail_under: number | null;
            /** @default [] */
            imports: string[];
            name: string;
            /** @default auto */
            record?: string;
            /** @default 2 */
            retries: number;
            /** @default  */
            source: string;
            /** @default  */
            suite_id: string;
            thresholds?: {
                [key: string]: number;
            };
            /** @default  */
            version: string;
            warmup: number | null;
        };
        SuiteItems: {
            items: components["schemas"]["SuiteSummary"][];
        };
        /** @description A suite that an agent has run: ``version`` is the agent's of the newest execution, at ``last_at``. */
        SuiteRun: {
            benchmarks: number;
            digest: string;
            last_at: number;
            name: string;
            simulated: boolean;
            suite_id: string;
            version: string;
        };
        /**
         * @description Everything concluded about one run of a suite; ``agents`` are in the order of their overall score.
         *
         *     ``failed`` holds the first failed cases of each arm, ``failed_total`` counts them all. ``scorers`` are those that
         *     raised or had no verdict.
         */
        SuiteStanding: {
            agents: components["schemas"]["AgentStanding"][];
            arms: components["schemas"]["ArmStanding"][];
            benchmarks: string[];
            /** @default [] */
            failed: components["schemas"]["FailedCase"][];
            /** @default 0 */
            failed_total: number;
            head_to_head: components["schemas"]["HeadToHead"] | null;
            run_id: string;
            /** @default [] */
            scorers: components["schemas"]["ScorerTrouble"][];
        };
        SuiteSummary: {
            benchmarks: number;
            cases: number;
            category: string;
            description: string;
            digest: string;
            name: string;
            registered: boolean;
            suite_id: string;
            /** @default  */
            uid: string;
            version: string;
        };
        SuiteVersion: {
            created_at: number;
            digest: string;
            uid: string;
            version: string;
        };
        /**
         * @description ``versions`` are those that have been run, the newest first. ``constraints`` are of a whole run.
         *
         *     ``baseline_scores`` are what the suite says that agents are known to have. ``created_at`` is as the suite says,
         *     else when this version was first run (ISO 8601), "" where it never was.
         */
        SuiteView: {
            baseline_scores: components["schemas"]["BaselineScores"][];
            benchmarks: components["schemas"]["BenchmarkView"][];
            category: string;
            constraints: components["schemas"]["LimitsView"];
            created_at: string;
            suite: components["schemas"]["SuiteSummary"];
            suite_id: string;
            suite_name: string;
            version: string;
            versions: components["schemas"]["SuiteVersion"][];
        };
        /** @enum {string} */
        TestType: "synthetic" | "real_world" | "stress" | "edge_case";
        /** @description One window, for pictures over time. */
        TimePoint: {
            asked_per_s: number;
            at_s: number;
            duration_s: number;
            error_rate: number | null;
            in_flight: number;
            lag_p99_s: number | null;
            latency_p50_s: number | null;
            latency_p99_s: number | null;
            stage: string;
            step: string;
            target_rss_bytes: number | null;
            throughput_per_s: number;
            ttft_p50_s: number | null;
        };
        /**
         * @description ``latest`` is the newest execution of each benchmark.
         * @enum {string}
         */
        Timeframe: "latest" | "24h" | "7d" | "30d" | "all";
        /**
         * @description Totals over all executions. ``calls_with_usage`` of ``calls`` told their tokens; the others are in no total.
         *
         *     ``wasted_tokens`` is the sum of ``unused_tokens``, ``retried_tokens`` and ``truncated_tokens``: no call is counted
         *     twice.
         */
        TokenAnalysis: {
            cache_hits: number | null;
            cached_tokens: number | null;
            /** @default 0 */
            calls: number;
            /** @default 0 */
            calls_with_usage: number;
            input_tokens: number | null;
            output_tokens: number | null;
            reasoning_tokens: number | null;
            repeated_prefix_tokens: number | null;
            retried_tokens: number | null;
            token_efficiency: number | null;
            truncated_tokens: number | null;
            unused_tokens: number | null;
            wasted_tokens: number | null;
        };
        /** @description Where the measured code stands in its history. */
        Vcs: {
            branch: string | null;
            commit: string;
            dirty: boolean;
        };
        /** @enum {string} */
        Verdict: "better" | "worse" | "same" | "inconclusive";
        /** @description ``registered``: a version of that name can be run here. */
        VersionView: {
            created_at: number;
            last_attempt_at: number | null;
            last_success_at: number | null;
            /** @default false */
            registered: boolean;
            uid: string;
            uses: string;
            version: string;
        };
    };
    responses: never;
    parameters: never;
    requestBodies: never;
    headers: never;
    pathItems: never;
}
export type Accepted = components['schemas']['Accepted'];
export type AcknowledgeBody = components['schemas']['AcknowledgeBody'];
export type Affinity = components['schemas']['Affinity'];
export type AgentItems = components['schemas']['AgentItems'];
export type AgentStanding = components['schemas']['AgentStanding'];
export type AgentSummary = components['schemas']['AgentSummary'];
export type AgentUse = components['schemas']['AgentUse'];
export type AgentView = components['schemas']['AgentView'];
export type Alert = components['schemas']['Alert'];
export type AlertItems = components['schemas']['AlertItems'];
export type AllAgainstAll = components['schemas']['AllAgainstAll'];
export type Answer = components['schemas']['Answer'];
export type AnswerMark = components['schemas']['AnswerMark'];
export type ApiKey = components['schemas']['ApiKey'];
export type ArmComparison = components['schemas']['ArmComparison'];
export type ArmLabel = components['schemas']['ArmLabel'];
export type ArmResult = components['schemas']['ArmResult'];
export type ArmStanding = components['schemas']['ArmStanding'];
export type Artifact = components['schemas']['Artifact'];
export type ArtifactItems = components['schemas']['ArtifactItems'];
export type AuditEntry = components['schemas']['AuditEntry'];
export type AuditPage = components['schemas']['AuditPage'];
export type AutoStop = components['schemas']['AutoStop'];
export type BandFinding = components['schemas']['BandFinding'];
export type BandLevel = components['schemas']['BandLevel'];
export type BaselineBody = components['schemas']['BaselineBody'];
export type BaselineItems = components['schemas']['BaselineItems'];
export type BaselineRow = components['schemas']['BaselineRow'];
export type BaselineScores = components['schemas']['BaselineScores'];
export type Benchmark = components['schemas']['Benchmark'];
export type BenchmarkView = components['schemas']['BenchmarkView'];
export type BoardScope = components['schemas']['BoardScope'];
export type Bottleneck = components['schemas']['Bottleneck'];
export type BreakingPoint = components['schemas']['BreakingPoint'];
export type Case = components['schemas']['Case'];
export type CaseFigures = components['schemas']['CaseFigures'];
export type CaseGrid = components['schemas']['CaseGrid'];
export type CaseKey = components['schemas']['CaseKey'];
export type CaseScores = components['schemas']['CaseScores'];
export type CaseView = components['schemas']['CaseView'];
export type Category = components['schemas']['Category'];
export type ChangeRow = components['schemas']['ChangeRow'];
export type Changes = components['schemas']['Changes'];
export type Cleared = components['schemas']['Cleared'];
export type CompareBody = components['schemas']['CompareBody'];
export type Compared = components['schemas']['Compared'];
export type Comparison = components['schemas']['Comparison'];
export type ComparisonType = components['schemas']['ComparisonType'];
export type Complexity = components['schemas']['Complexity'];
export type ConfigurationRow = components['schemas']['ConfigurationRow'];
export type Constraints = components['schemas']['Constraints'];
export type CostReport = components['schemas']['CostReport'];
export type CostRow = components['schemas']['CostRow'];
export type Coverage = components['schemas']['Coverage'];
export type CurvePoint = components['schemas']['CurvePoint'];
export type DatasetView = components['schemas']['DatasetView'];
export type DeclaredMetric = components['schemas']['DeclaredMetric'];
export type Detector = components['schemas']['Detector'];
export type DimensionComparison = components['schemas']['DimensionComparison'];
export type Direction = components['schemas']['Direction'];
export type DivergenceView = components['schemas']['DivergenceView'];
export type Duel = components['schemas']['Duel'];
export type Effort = components['schemas']['Effort'];
export type Entry = components['schemas']['Entry'];
export type Environment = components['schemas']['Environment'];
export type ErrorClass = components['schemas']['ErrorClass'];
export type Event = components['schemas']['Event'];
export type Execution = components['schemas']['Execution'];
export type ExecutionItem = components['schemas']['ExecutionItem'];
export type ExecutionPhase = components['schemas']['ExecutionPhase'];
export type ExperimentArms = components['schemas']['ExperimentArms'];
export type FailedCase = components['schemas']['FailedCase'];
export type Failure = components['schemas']['Failure'];
export type FailureKind = components['schemas']['FailureKind'];
export type FieldProblem = components['schemas']['FieldProblem'];
export type Finished = components['schemas']['Finished'];
export type FittedLaw = components['schemas']['FittedLaw'];
export type FoundThing = components['schemas']['FoundThing'];
export type FoundThings = components['schemas']['FoundThings'];
export type GcPolicy = components['schemas']['GcPolicy'];
export type GridCell = components['schemas']['GridCell'];
export type GridRow = components['schemas']['GridRow'];
export type HeadToHead = components['schemas']['HeadToHead'];
export type Health = components['schemas']['Health'];
export type Histogram = components['schemas']['Histogram'];
export type History = components['schemas']['History'];
export type HistoryChange = components['schemas']['HistoryChange'];
export type HistoryDrift = components['schemas']['HistoryDrift'];
export type HistoryLevel = components['schemas']['HistoryLevel'];
export type HistoryPoint = components['schemas']['HistoryPoint'];
export type HistorySubjects = components['schemas']['HistorySubjects'];
export type Impact = components['schemas']['Impact'];
export type ImportedItems = components['schemas']['ImportedItems'];
export type ImportedRun = components['schemas']['ImportedRun'];
export type InstrumentUse = components['schemas']['InstrumentUse'];
export type Isolation = components['schemas']['Isolation'];
export type Iterations = components['schemas']['Iterations'];
export type Job = components['schemas']['Job'];
export type JobPage = components['schemas']['JobPage'];
export type JobStatus = components['schemas']['JobStatus'];
export type KeyBody = components['schemas']['KeyBody'];
export type KeyItems = components['schemas']['KeyItems'];
export type LeaderboardAnswer = components['schemas']['LeaderboardAnswer'];
export type LeaderboardItem = components['schemas']['LeaderboardItem'];
export type LimitedBy = components['schemas']['LimitedBy'];
export type Limits = components['schemas']['Limits'];
export type LimitsView = components['schemas']['LimitsView'];
export type LinkBody = components['schemas']['LinkBody'];
export type MarkBody = components['schemas']['MarkBody'];
export type MarkItems = components['schemas']['MarkItems'];
export type Matrix = components['schemas']['Matrix'];
export type MatrixEntry = components['schemas']['MatrixEntry'];
export type Metric = components['schemas']['Metric'];
export type MetricComparison = components['schemas']['MetricComparison'];
export type MetricNames = components['schemas']['MetricNames'];
export type MetricSummary = components['schemas']['MetricSummary'];
export type NewKey = components['schemas']['NewKey'];
export type Objective = components['schemas']['Objective'];
export type Opportunity = components['schemas']['Opportunity'];
export type OptimizationOpportunity = components['schemas']['OptimizationOpportunity'];
export type Options = components['schemas']['Options'];
export type Order = components['schemas']['Order'];
export type PairedRow = components['schemas']['PairedRow'];
export type PerformanceProfile = components['schemas']['PerformanceProfile'];
export type Perturbed = components['schemas']['Perturbed'];
export type Phase = components['schemas']['Phase'];
export type Problem = components['schemas']['Problem'];
export type ProfileChange = components['schemas']['ProfileChange'];
export type ProfileComparison = components['schemas']['ProfileComparison'];
export type ProfileData = components['schemas']['ProfileData'];
export type ProfilePhase = components['schemas']['ProfilePhase'];
export type ProfileReport = components['schemas']['ProfileReport'];
export type ProfiledSpan = components['schemas']['ProfiledSpan'];
export type ProgressPoint = components['schemas']['ProgressPoint'];
export type Provenance = components['schemas']['Provenance'];
export type RankedScore = components['schemas']['RankedScore'];
export type Recommendation = components['schemas']['Recommendation'];
export type Reducer = components['schemas']['Reducer'];
export type Regression = components['schemas']['Regression'];
export type RegressionAnswer = components['schemas']['RegressionAnswer'];
export type RegressionItem = components['schemas']['RegressionItem'];
export type Reliability = components['schemas']['Reliability'];
export type ReliabilityItems = components['schemas']['ReliabilityItems'];
export type ReportFormat = components['schemas']['ReportFormat'];
export type ResourceUsage = components['schemas']['ResourceUsage'];
export type ResourceUtilization = components['schemas']['ResourceUtilization'];
export type ResultPage = components['schemas']['ResultPage'];
export type Rubric = components['schemas']['Rubric'];
export type RunBody = components['schemas']['RunBody'];
export type RunComparisons = components['schemas']['RunComparisons'];
export type RunCourse = components['schemas']['RunCourse'];
export type RunEstimate = components['schemas']['RunEstimate'];
export type RunForm = components['schemas']['RunForm'];
export type RunPlace = components['schemas']['RunPlace'];
export type RunResult = components['schemas']['RunResult'];
export type RunRow = components['schemas']['RunRow'];
export type RunRowPage = components['schemas']['RunRowPage'];
export type RunStatus = components['schemas']['RunStatus'];
export type RunSubject = components['schemas']['RunSubject'];
export type RunVerdict = components['schemas']['RunVerdict'];
export type RunView = components['schemas']['RunView'];
export type RunWarning = components['schemas']['RunWarning'];
export type Sample = components['schemas']['Sample'];
export type SamplePage = components['schemas']['SamplePage'];
export type SampleRow = components['schemas']['SampleRow'];
export type ScenarioReport = components['schemas']['ScenarioReport'];
export type Scope = components['schemas']['Scope'];
export type ScoreEstimate = components['schemas']['ScoreEstimate'];
export type ScoreSpread = components['schemas']['ScoreSpread'];
export type ScorerMean = components['schemas']['ScorerMean'];
export type ScorerTrouble = components['schemas']['ScorerTrouble'];
export type ScorerUse = components['schemas']['ScorerUse'];
export type SelfCheck = components['schemas']['SelfCheck'];
export type Session = components['schemas']['Session'];
export type Severity = components['schemas']['Severity'];
export type Side = components['schemas']['Side'];
export type SignInBody = components['schemas']['SignInBody'];
export type SpanTree = components['schemas']['SpanTree'];
export type Spec = components['schemas']['Spec'];
export type SpendItem = components['schemas']['SpendItem'];
export type SpendItems = components['schemas']['SpendItems'];
export type Spread = components['schemas']['Spread'];
export type SpreadItems = components['schemas']['SpreadItems'];
export type StaleAgent = components['schemas']['StaleAgent'];
export type Status = components['schemas']['Status'];
export type Strategy = components['schemas']['Strategy'];
export type StressItems = components['schemas']['StressItems'];
export type StressReport = components['schemas']['StressReport'];
export type SuccessMetric = components['schemas']['SuccessMetric'];
export type SuccessReport = components['schemas']['SuccessReport'];
export type Suite = components['schemas']['Suite'];
export type SuiteItems = components['schemas']['SuiteItems'];
export type SuiteRun = components['schemas']['SuiteRun'];
export type SuiteStanding = components['schemas']['SuiteStanding'];
export type SuiteSummary = components['schemas']['SuiteSummary'];
export type SuiteVersion = components['schemas']['SuiteVersion'];
export type SuiteView = components['schemas']['SuiteView'];
export type TestType = components['schemas']['TestType'];
export type TimePoint = components['schemas']['TimePoint'];
export type Timeframe = components['schemas']['Timeframe'];
export type TokenAnalysis = components['schemas']['TokenAnalysis'];
export type Vcs = components['schemas']['Vcs'];
export type Verdict = components['schemas']['Verdict'];
export type VersionView = components['schemas']['VersionView'];
export type $defs = Record<string, never>;
export type operations = Record<string, never>;
