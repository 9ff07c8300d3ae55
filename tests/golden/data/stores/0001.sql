BEGIN TRANSACTION;
CREATE TABLE agentdyno_version (
	version_num VARCHAR(32) NOT NULL, 
	CONSTRAINT agentdyno_version_pkc PRIMARY KEY (version_num)
);
INSERT INTO "agentdyno_version" VALUES('0001');
CREATE TABLE arms (
	id INTEGER NOT NULL, 
	run INTEGER NOT NULL, 
	arm_id TEXT NOT NULL, 
	position INTEGER NOT NULL, 
	name TEXT NOT NULL, 
	experiment TEXT NOT NULL, 
	params JSON, 
	benchmark TEXT, 
	agent TEXT, 
	side TEXT, 
	planned INTEGER NOT NULL, 
	observed JSON, 
	metrics JSON, 
	scores JSON, 
	statuses JSON, 
	CONSTRAINT pk_arms PRIMARY KEY (id), 
	CONSTRAINT uq_arms_run_arm_id UNIQUE (run, arm_id), 
	CONSTRAINT fk_arms_run_runs FOREIGN KEY(run) REFERENCES runs (id) ON DELETE CASCADE
);
INSERT INTO "arms" VALUES(17,5,'26f0e012d06cf960',0,'sorting size=100','sorting','{"size":100}',NULL,NULL,NULL,6,'{"python":"3.11.7","implementation":"CPython","cpu":null}','{"duration_s":{"unit":"s","direction":"lower","provenance":"measured","n":6,"mean":2.5692051248357423e-06,"median":2.2156212877792375e-06,"p95":4.226275164257556e-06,"p99":4.5021004467805525e-06,"ci":[1.0787547963206309e-06,4.571056767411301e-06],"std":1.1878407155991897e-06,"mad":5.24842049934297e-07,"cv":0.46233782741466867,"minimum":1.0787547963206309e-06,"maximum":4.571056767411301e-06,"outliers":1,"mean_without_outliers":2.5692051248357423e-06,"machine_dependent":true},"cpu_s":{"unit":"s","direction":"lower","provenance":"measured","n":6,"mean":1.1213278142794568e-06,"median":1.1002766097240472e-06,"p95":1.1999641918528251e-06,"p99":1.2163534165571617e-06,"ci":[1.0792467805519053e-06,1.2204507227332457e-06],"std":5.282711408899689e-08,"mad":1.6047437582128642e-08,"cv":0.047111213524068836,"minimum":1.0792467805519053e-06,"maximum":1.2204507227332457e-06,"outliers":1,"mean_without_outliers":1.1213278142794568e-06,"machine_dependent":true},"involuntary_switches":{"unit":"","direction":"unknown","provenance":"measured","n":6,"mean":1.0,"median":1.0,"p95":1.75,"p99":1.9500000000000002,"ci":[0.0,2.0],"std":0.6324555320336759,"mad":0.0,"cv":0.6324555320336759,"minimum":0.0,"maximum":2.0,"outliers":2,"mean_without_outliers":1.0,"machine_dependent":true},"peak_rss_bytes":{"unit":"bytes","direction":"lower","provenance":"measured","n":6,"mean":112840704.0,"median":112840704.0,"p95":112840704.0,"p99":112840704.0,"ci":[112840704.0,112840704.0],"std":0.0,"mad":0.0,"cv":0.0,"minimum":112840704.0,"maximum":112840704.0,"outliers":0,"mean_without_outliers":null,"machine_dependent":true},"result.value":{"unit":"","direction":"unknown","provenance":"measured","n":6,"mean":1.0,"median":1.0,"p95":1.0,"p99":1.0,"ci":[1.0,1.0],"std":0.0,"mad":0.0,"cv":0.0,"minimum":1.0,"maximum":1.0,"outliers":0,"mean_without_outliers":null,"machine_dependent":true},"rss_bytes":{"unit":"bytes","direction":"unknown","provenance":"measured","n":6,"mean":112840704.0,"median":112840704.0,"p95":112840704.0,"p99":112840704.0,"ci":[112840704.0,112840704.0],"std":0.0,"mad":0.0,"cv":0.0,"minimum":112840704.0,"maximum":112840704.0,"outliers":0,"mean_without_outliers":null,"machine_dependent":true},"throughput_per_s":{"unit":"/s","direction":"higher","provenance":"derived","n":6,"mean":471512.00107286667,"median":451609.8539557204,"p95":811945.9753519447,"p99":903984.9708005221,"ci":[218767.79285030055,926994.7196626664],"std":243899.92073722917,"mad":76754.84941338337,"cv":0.5172719255973662,"minimum":218767.79285030055,"maximum":926994.7196626664,"outliers":1,"mean_without_outliers":380415.45735490666,"machine_dependent":true}}',NULL,'{"ok":6}');
INSERT INTO "arms" VALUES(18,5,'90f836b0e24e2ed4',1,'sorting size=400','sorting','{"size":400}',NULL,NULL,NULL,6,'{"python":"3.11.7","implementation":"CPython","cpu":null}','{"duration_s":{"unit":"s","direction":"lower","provenance":"measured","n":6,"mean":1.2185807280513919e-05,"median":8.718850107066381e-06,"p95":2.1092813972162744e-05,"p99":2.2554261295503214e-05,"ci":[8.563683083511778e-06,2.291962312633833e-05],"std":5.9515885345624435e-06,"mad":1.4628319057815842e-07,"cv":0.48840330374168234,"minimum":8.563683083511778e-06,"maximum":2.291962312633833e-05,"outliers":1,"mean_without_outliers":1.2185807280513919e-05,"machine_dependent":true},"cpu_s":{"unit":"s","direction":"lower","provenance":"measured","n":6,"mean":4.358555139186296e-06,"median":4.349923447537473e-06,"p95":4.436725910064239e-06,"p99":4.438885224839401e-06,"ci":[4.2836134903640255e-06,4.439425053533191e-06],"std":6.937589493126454e-08,"mad":5.820824411134923e-08,"cv":0.01591717730206722,"minimum":4.2836134903640255e-06,"maximum":4.439425053533191e-06,"outliers":0,"mean_without_outliers":null,"machine_dependent":true},"involuntary_switches":{"unit":"","direction":"unknown","provenance":"measured","n":6,"mean":1.3333333333333333,"median":1.0,"p95":2.0,"p99":2.0,"ci":[1.0,2.0],"std":0.5163977794943223,"mad":0.0,"cv":0.38729833462074176,"minimum":1.0,"maximum":2.0,"outliers":0,"mean_without_outliers":null,"machine_dependent":true},"peak_rss_bytes":{"unit":"bytes","direction":"lower","provenance":"measured","n":6,"mean":112840704.0,"median":112840704.0,"p95":112840704.0,"p99":112840704.0,"ci":[112840704.0,112840704.0],"std":0.0,"mad":0.0,"cv":0.0,"minimum":112840704.0,"maximum":112840704.0,"outliers":0,"mean_without_outliers":null,"machine_dependent":true},"result.value":{"unit":"","direction":"unknown","provenance":"measured","n":6,"mean":1.0,"median":1.0,"p95":1.0,"p99":1.0,"ci":[1.0,1.0],"std":0.0,"mad":0.0,"cv":0.0,"minimum":1.0,"maximum":1.0,"outliers":0,"mean_without_outliers":null,"machine_dependent":true},"rss_bytes":{"unit":"bytes","direction":"unknown","provenance":"measured","n":6,"mean":112840704.0,"median":112840704.0,"p95":112840704.0,"p99":112840704.0,"ci":[112840704.0,112840704.0],"std":0.0,"mad":0.0,"cv":0.0,"minimum":112840704.0,"maximum":112840704.0,"outliers":0,"mean_without_outliers":null,"machine_dependent":true},"throughput_per_s":{"unit":"/s","direction":"higher","provenance":"derived","n":6,"mean":95062.1886451753,"median":114694.04534141524,"p95":116711.74328735632,"p99":116760.09802985202,"ci":[43630.73487237402,116772.18671547594],"std":32587.966146300638,"mad":1957.254517821464,"cv":0.34280681531473006,"minimum":43630.73487237402,"maximum":116772.18671547594,"outliers":0,"mean_without_outliers":null,"machine_dependent":true}}',NULL,'{"ok":6}');
CREATE TABLE artifacts (
	id INTEGER NOT NULL, 
	run INTEGER NOT NULL, 
	arm INTEGER, 
	name TEXT NOT NULL, 
	path TEXT NOT NULL, 
	size_bytes BIGINT NOT NULL, 
	media_type TEXT NOT NULL, 
	content BLOB, 
	CONSTRAINT pk_artifacts PRIMARY KEY (id), 
	CONSTRAINT fk_artifacts_run_runs FOREIGN KEY(run) REFERENCES runs (id) ON DELETE CASCADE, 
	CONSTRAINT fk_artifacts_arm_arms FOREIGN KEY(arm) REFERENCES arms (id) ON DELETE CASCADE
);
CREATE TABLE calibrations (
	id INTEGER NOT NULL, 
	machine_id TEXT NOT NULL, 
	measured_at BIGINT NOT NULL, 
	comparisons INTEGER NOT NULL, 
	samples_per_side INTEGER NOT NULL, 
	noise_floor DOUBLE NOT NULL, 
	false_alarms INTEGER NOT NULL, 
	CONSTRAINT pk_calibrations PRIMARY KEY (id)
);
INSERT INTO "calibrations" VALUES(1,'given-machine',1767830400000,40,30,0.021,2);
CREATE TABLE environments (
	id INTEGER NOT NULL, 
	digest BLOB NOT NULL, 
	machine_id TEXT NOT NULL, 
	document JSON NOT NULL, 
	CONSTRAINT pk_environments PRIMARY KEY (id), 
	CONSTRAINT uq_environments_digest UNIQUE (digest)
);
INSERT INTO "environments" VALUES(1,X'DD5838772F2CB42FB3AFD367BFDB29319994690A09780B1817C95B8BD7254FCD','given-machine','{"machine_id":"given-machine","os":"Linux","kernel":"6.1","cpu_model":"Some CPU","cpu_count":2,"memory_bytes":8589934592,"python":"3.11.7","implementation":"CPython","agentdyno":"0.1.0","packages":{"numpy":"2.0"},"variables":{},"details":{"smt":false,"load_1min":0.25}}');
INSERT INTO "environments" VALUES(2,X'5F95001172C8BF0D4697E0F6ABCC8337977ED693AD6EED3030DED27699F8547B','given-machine','{"machine_id":"given-machine","os":"Linux","kernel":"6.1","cpu_model":"Some CPU","cpu_count":2,"memory_bytes":8589934592,"python":"3.11.7","implementation":"CPython","agentdyno":"0.1.0","packages":{"numpy":"2.0"},"variables":{},"details":{"smt":false,"load_1min":0.25}}');
CREATE TABLE runs (
	id INTEGER NOT NULL, 
	run_id BLOB NOT NULL, 
	kind TEXT NOT NULL, 
	name TEXT NOT NULL, 
	status TEXT NOT NULL, 
	seed BIGINT NOT NULL, 
	started_at BIGINT NOT NULL, 
	finished_at BIGINT, 
	spec INTEGER NOT NULL, 
	environment INTEGER NOT NULL, 
	vcs JSON, 
	tags JSON, 
	notes TEXT NOT NULL, 
	warnings JSON, 
	overhead_s DOUBLE, 
	stopped_because TEXT, 
	CONSTRAINT pk_runs PRIMARY KEY (id), 
	CONSTRAINT uq_runs_run_id UNIQUE (run_id), 
	CONSTRAINT fk_runs_spec_specs FOREIGN KEY(spec) REFERENCES specs (id), 
	CONSTRAINT fk_runs_environment_environments FOREIGN KEY(environment) REFERENCES environments (id)
);
INSERT INTO "runs" VALUES(5,X'019B9B1E3EE57EAC94992A3E55131DED','experiment','sorting','complete',42,1767834009317,1767834009584,2,2,NULL,NULL,'sizes','[{"code":"noisy","message":"typical deviation is 24% of the median","remedy":"`dyno doctor` says what disturbs this machine; more iterations narrow the interval.","arm_id":"26f0e012d06cf960"}]',3.0e-07,NULL);
CREATE TABLE samples (
	id INTEGER NOT NULL, 
	arm INTEGER NOT NULL, 
	phase TEXT NOT NULL, 
	iteration BIGINT NOT NULL, 
	case_id TEXT NOT NULL, 
	instrument TEXT NOT NULL, 
	status TEXT NOT NULL, 
	started_at_ms BIGINT NOT NULL, 
	duration_s DOUBLE, 
	cpu_s DOUBLE, 
	readings JSON, 
	inner_loops BIGINT NOT NULL, 
	seed BIGINT NOT NULL, 
	process INTEGER NOT NULL, 
	attempts INTEGER NOT NULL, 
	scores JSON, 
	usage JSON, 
	output JSON, 
	details JSON, 
	failure JSON, 
	CONSTRAINT pk_samples PRIMARY KEY (id), 
	CONSTRAINT uq_samples_arm_phase_iteration_case_id_instrument UNIQUE (arm, phase, iteration, case_id, instrument), 
	CONSTRAINT fk_samples_arm_arms FOREIGN KEY(arm) REFERENCES arms (id) ON DELETE CASCADE
);
INSERT INTO "samples" VALUES(265,18,'measured',0,'','','ok',1767834009417,2.29196231263383313689e-05,4.39115096359743063703e-06,'{"involuntary_switches":2.0,"rss_bytes":112840704.0,"peak_rss_bytes":112840704.0,"result.value":1.0}',934,1603294137,0,1,NULL,NULL,NULL,'{"warmup_s":[1.6224e-05]}',NULL);
INSERT INTO "samples" VALUES(266,17,'measured',0,'','','ok',1767834009453,3.19193035479632074942e-06,1.09177503285151113524e-06,'{"involuntary_switches":1.0,"rss_bytes":112840704.0,"peak_rss_bytes":112840704.0,"result.value":1.0}',3805,1603294137,0,1,NULL,NULL,NULL,'{"warmup_s":[5.498e-06]}',NULL);
INSERT INTO "samples" VALUES(267,17,'measured',1,'','','ok',1767834009467,4.57105676741130112928e-06,1.13850459921156367472e-06,'{"involuntary_switches":2.0,"rss_bytes":112840704.0,"peak_rss_bytes":112840704.0,"result.value":1.0}',3805,1839716869,0,1,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "samples" VALUES(268,18,'measured',1,'','','ok',1767834009485,8.58145074946466775069e-06,4.29981691648822286376e-06,'{"involuntary_switches":1.0,"rss_bytes":112840704.0,"peak_rss_bytes":112840704.0,"result.value":1.0}',934,1839716869,0,1,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "samples" VALUES(269,18,'measured',2,'','','ok',1767834009494,1.56123865096359750923e-05,4.30869593147751619305e-06,'{"involuntary_switches":2.0,"rss_bytes":112840704.0,"peak_rss_bytes":112840704.0,"result.value":1.0}',934,3580555258,0,1,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "samples" VALUES(270,17,'measured',2,'','','ok',1767834009509,2.14224625492772667817e-06,1.08921156373193176012e-06,'{"involuntary_switches":1.0,"rss_bytes":112840704.0,"peak_rss_bytes":112840704.0,"result.value":1.0}',3805,3580555258,0,1,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "samples" VALUES(271,18,'measured',3,'','','ok',1767834009518,8.56368308351177772753e-06,4.28361349036402550656e-06,'{"involuntary_switches":1.0,"rss_bytes":112840704.0,"peak_rss_bytes":112840704.0,"result.value":1.0}',934,3385735086,0,1,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "samples" VALUES(272,17,'measured',3,'','','ok',1767834009527,1.07875479632063085071e-06,1.07924678055190533237e-06,'{"involuntary_switches":0.0,"rss_bytes":112840704.0,"peak_rss_bytes":112840704.0,"result.value":1.0}',3805,3385735086,0,1,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "samples" VALUES(273,18,'measured',4,'','','ok',1767834009535,8.71505460385438896885e-06,4.42862847965738725981e-06,'{"involuntary_switches":1.0,"rss_bytes":112840704.0,"peak_rss_bytes":112840704.0,"result.value":1.0}',934,2123606857,0,1,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "samples" VALUES(274,17,'measured',4,'','','ok',1767834009544,2.26971379763469112726e-06,1.22045072273324568931e-06,'{"involuntary_switches":1.0,"rss_bytes":112840704.0,"peak_rss_bytes":112840704.0,"result.value":1.0}',3805,2123606857,0,1,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "samples" VALUES(275,18,'measured',5,'','','ok',1767834009553,8.72264561027837334941e-06,4.43942505353319066081e-06,'{"involuntary_switches":1.0,"rss_bytes":112840704.0,"peak_rss_bytes":112840704.0,"result.value":1.0}',934,3680168793,0,1,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "samples" VALUES(276,17,'measured',5,'','','ok',1767834009562,2.16152877792378436683e-06,1.10877818659658345355e-06,'{"involuntary_switches":1.0,"rss_bytes":112840704.0,"peak_rss_bytes":112840704.0,"result.value":1.0}',3805,3680168793,0,1,NULL,NULL,NULL,NULL,NULL);
CREATE TABLE specs (
	id INTEGER NOT NULL, 
	digest BLOB NOT NULL, 
	name TEXT NOT NULL, 
	document JSON NOT NULL, 
	CONSTRAINT pk_specs PRIMARY KEY (id), 
	CONSTRAINT uq_specs_digest UNIQUE (digest)
);
INSERT INTO "specs" VALUES(1,X'F6D92781C4D891239484FDCCEE8DC7965987C7210DF8F29F1B06E19092D1862B','Support desk','{"name":"Support desk","entries":[],"instruments":[],"imports":[],"output_dir":"/project/.dyno/runs","tags":["nightly"],"notes":"","seed":42,"parallelism":1,"isolation":"process","processes":null,"order":"interleaved","gc":"normal","affinity":"auto","inner_loops":null,"limits":{"timeout_s":null,"memory_bytes":null,"output_bytes":16777216},"time_budget_s":null,"max_failure_rate":0.5,"metrics":{},"against":null,"until_decided":false,"reports":[],"base_dir":"/project","source":"support.yaml"}');
INSERT INTO "specs" VALUES(2,X'ED755708C53A72408E9A0151B69CA66400058A508B9655D8C389D85C40BBC30D','sorting','{"name":"sorting","entries":[{"experiment":"sorting.py@sorting","params":{"size":[100,400]},"sweep":{},"strategy":"cartesian","samples":null,"iterations":{"warmup":1,"measured":6,"instrumented":1,"auto":null,"assumed":false}}],"instruments":[],"imports":[],"output_dir":"/project/.dyno/runs","tags":[],"notes":"sizes","seed":42,"parallelism":1,"isolation":"inline","processes":null,"order":"interleaved","gc":"normal","affinity":"auto","inner_loops":null,"limits":{"timeout_s":600.0,"memory_bytes":null,"output_bytes":16777216},"time_budget_s":null,"max_failure_rate":0.5,"metrics":{},"against":null,"until_decided":false,"reports":[],"base_dir":"/project","source":"sorting.py@sorting"}');
INSERT INTO "specs" VALUES(3,X'24811760469FA8C6ED556F3871B5E36F4A1F31C4D9DF1CC51D136ED2B5B0D1C9','sorting','{"name":"sorting","entries":[{"experiment":"sorting.py@sorting","params":{"size":100},"sweep":{},"strategy":"cartesian","samples":null,"iterations":{"warmup":1,"measured":6,"instrumented":1,"auto":null,"assumed":false}}],"instruments":[],"imports":[],"output_dir":"/project/.dyno/runs","tags":[],"notes":"","seed":42,"parallelism":1,"isolation":"process","processes":10,"order":"interleaved","gc":"normal","affinity":"auto","inner_loops":null,"limits":{"timeout_s":600.0,"memory_bytes":null,"output_bytes":16777216},"time_budget_s":null,"max_failure_rate":0.5,"metrics":{},"against":"params:{\"size\": 300}","until_decided":false,"reports":[],"base_dir":"/project","source":"sorting.py@sorting"}');
INSERT INTO "specs" VALUES(4,X'3481B4BFE5F878896E4C0665C5BA3B6A8E16F7FCA4E479AEEB43D6669027785D','load helper','{"name":"load helper","entries":[{"experiment":"load","params":{"target":"helper","dialect":null,"model":"","key_env":"","scenarios":[],"profile":"standard","stages":[{"label":"steady","duration_s":2.0,"rate":20.0,"rate_to":null,"concurrency":0,"concurrency_to":null}],"shape":null,"arrivals":"poisson","gamma_shape":1.0,"trace":"","find_limit":false,"rate":20.0,"slo":[],"params":{},"options":{"processes":1,"connections":1000,"timeout_s":30.0,"window_s":0.5,"max_bytes":33554432,"max_requests":10000000,"max_s":7200.0,"output_tokens":null,"prompt":"","prompts":{"distribution":"fixed","mean":32.0,"sigma":0.5,"low":1,"high":4096,"shared":0},"sessions":{"turns":1,"think_s":1.0},"keep_requests":true,"cpus":[]},"method":"POST","headers":{},"body":null,"input":"What does order 3 cost?","body_options":{},"ca_file":"","insecure":false,"own_target":false},"sweep":{},"strategy":"cartesian","samples":null,"iterations":{"warmup":1,"measured":10,"instrumented":1,"auto":null,"assumed":false}}],"instruments":[],"imports":[],"output_dir":"/project/.dyno/runs","tags":[],"notes":"","seed":42,"parallelism":1,"isolation":"process","processes":null,"order":"interleaved","gc":"normal","affinity":"auto","inner_loops":null,"limits":{"timeout_s":null,"memory_bytes":null,"output_bytes":16777216},"time_budget_s":null,"max_failure_rate":0.5,"metrics":{},"against":null,"until_decided":false,"reports":[],"base_dir":"/project","source":"command line"}');
CREATE INDEX ix_environments_machine_id ON environments (machine_id);
CREATE INDEX ix_runs_started_at ON runs (started_at);
CREATE INDEX ix_artifacts_run ON artifacts (run);
CREATE INDEX ix_calibrations_machine_id_measured_at ON calibrations (machine_id, measured_at);
COMMIT;
